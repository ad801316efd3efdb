//! What the code says, in each language.

use super::*;

fn object<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    members.map(|(key, value)| (key.to_owned(), value)).into()
}

fn vpc() -> Declaration {
    let tags = object([("Cost Centre", Value::from("7 ${x}")), ("team", Value::from("web"))]);
    let rule = object([("fromPort", Value::from(80)), ("open", Value::from(true))]);
    let text = Asset { source: AssetSource::Text("hi".to_owned()), ..Asset::default() };
    let inner = object([("a.txt", Value::Asset(text))]);
    let archive = Archive { source: ArchiveSource::Assets(inner), ..Archive::default() };
    Declaration {
        variable: "main-vpc".to_owned(),
        type_token: "aws-native:ec2/vpc:Vpc".to_owned(),
        name: "main-vpc".to_owned(),
        inputs: object([
            ("cidrBlock", Value::from("10.0.0.0/16")),
            ("enableDNSSupport", Value::from(false)),
            ("from", Value::from("x\"y\\\n")),
            ("bundle", Value::Archive(archive)),
            ("nothing", Value::Array(Vec::new())),
            ("password", Value::secret(Value::from("hunter2"))),
            ("rules", Value::Array(vec![Value::Object(rule)])),
            ("tags", Value::Object(tags)),
        ]),
        parent: Some("net".to_owned()),
        provider: Some("west".to_owned()),
        protect: true,
    }
}

fn provider() -> Declaration {
    Declaration {
        variable: "west".to_owned(),
        type_token: "pulumi:providers:aws".to_owned(),
        name: "us-west".to_owned(),
        inputs: object([("region", Value::from("us-west-2"))]),
        ..Declaration::default()
    }
}

#[test]
fn typescript() {
    let text = write(Some("nodejs"), &[provider(), vpc()]).unwrap();
    let expected = r#"import * as pulumi from "@pulumi/pulumi";
import * as aws from "@pulumi/aws";
import * as aws_native from "@pulumi/aws-native";

const west = new aws.Provider("us-west", {
    region: "us-west-2",
});

const main_vpc = new aws_native.ec2.Vpc("main-vpc", {
    bundle: new pulumi.asset.AssetArchive({
        "a.txt": new pulumi.asset.StringAsset("hi"),
    }),
    cidrBlock: "10.0.0.0/16",
    enableDNSSupport: false,
    from: "x\"y\\\n",
    nothing: [],
    password: pulumi.secret("hunter2"),
    rules: [
        {
            fromPort: 80,
            open: true,
        },
    ],
    tags: {
        "Cost Centre": "7 ${x}",
        team: "web",
    },
}, {
    parent: net,
    provider: west,
    protect: true,
});
"#;
    assert_eq!(text, expected);
}

#[test]
fn python() {
    let text = write(Some("python"), &[provider(), vpc()]).unwrap();
    let expected = r#"import pulumi
import pulumi_aws as aws
import pulumi_aws_native as aws_native

west = aws.Provider("us-west",
    region="us-west-2")

main_vpc = aws_native.ec2.Vpc("main-vpc",
    bundle=pulumi.AssetArchive({
        "a.txt": pulumi.StringAsset("hi"),
    }),
    cidr_block="10.0.0.0/16",
    enable_dns_support=False,
    from_="x\"y\\\n",
    nothing=[],
    password=pulumi.Output.secret("hunter2"),
    rules=[
        {
            "fromPort": 80,
            "open": True,
        },
    ],
    tags={
        "Cost Centre": "7 ${x}",
        "team": "web",
    },
    opts=pulumi.ResourceOptions(parent=net, provider=west, protect=True))
"#;
    assert_eq!(text, expected);
}

#[test]
fn yaml() {
    let text = write(Some("yaml"), &[provider(), vpc()]).unwrap();
    let read: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
    let expected = serde_json::json!({"resources": {
        "west": {
            "type": "pulumi:providers:aws",
            "name": "us-west",
            "properties": {"region": "us-west-2"},
        },
        "main-vpc": {
            "type": "aws-native:ec2/vpc:Vpc",
            "properties": {
                "bundle": {"fn::assetArchive": {"a.txt": {"fn::stringAsset": "hi"}}},
                "cidrBlock": "10.0.0.0/16",
                "enableDNSSupport": false,
                "from": "x\"y\\\n",
                "nothing": [],
                "password": {"fn::secret": "hunter2"},
                "rules": [{"fromPort": 80, "open": true}],
                "tags": {"Cost Centre": "7 $${x}", "team": "web"},
            },
            "options": {"parent": "${net}", "provider": "${west}", "protect": true},
        },
    }});
    assert_eq!(read, expected, "{text}");
}

#[test]
fn s17_secrets_that_are_not_opened_are_masked() {
    let sealed = Value::Secret(Secret::Sealed("v1:abc".to_owned()));
    let declaration = Declaration {
        type_token: "aws:index:Key".to_owned(),
        inputs: object([("list", Value::Array(vec![sealed]))]),
        ..Declaration::default()
    };
    assert!(declaration.hides_secrets());
    for runtime in ["nodejs", "python", "yaml"] {
        let text = write(Some(runtime), std::slice::from_ref(&declaration)).unwrap();
        assert!(text.contains("[secret]") && !text.contains("v1:abc"), "{runtime}: {text}");
    }
}

#[test]
fn types_stand_where_packages_have_them() {
    let of = |type_token: &str| {
        let declaration = Declaration { type_token: type_token.to_owned(), ..Declaration::default() };
        let (package, modules, kind) = declaration.path();
        [vec![package], modules, vec![kind]].concat().join(".")
    };
    assert_eq!(of("random:index/randomPet:RandomPet"), "random.RandomPet");
    assert_eq!(of("kubernetes:core/v1:Pod"), "kubernetes.core.v1.Pod");
    assert_eq!(of("aws:s3/bucket:Bucket"), "aws.s3.Bucket");
    assert_eq!(of("drystone:local:File"), "drystone.local.File");
}

#[test]
fn a_runtime_that_nobody_knows_has_no_code() {
    assert_eq!(write(Some("cobol"), &[provider()]), None);
}
