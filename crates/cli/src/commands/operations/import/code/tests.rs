//! What the code says, in each language.

use super::*;
use drystone_model::{Json, Properties, Resource, Snapshot};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../../../tests/imports_code/schema.json");
const ITEM: &str = "bench:index/item:Item";
const SUBNET: &str = "bench:net/subnet:Subnet";
const VAULT: &str = "bench:index/vault:Vault";
const PROVIDER: &str = "pulumi:providers:bench";
const LANGUAGES: [&str; 3] = ["nodejs", "python", "yaml"];

fn urn(type_token: &str, name: &str) -> Urn {
    Urn::build("dev", "shop", "", type_token, name)
}

fn properties(json: &Value) -> Properties {
    Properties::new(Json::from_serialize(json).unwrap())
}

fn resource(type_token: &str, name: &str, id: &str, inputs: &Value) -> Resource {
    let is_provider = type_token == PROVIDER;
    Resource {
        urn: urn(type_token, name),
        custom: true,
        id: id.to_owned(),
        type_token: type_token.to_owned(),
        inputs: properties(inputs),
        outputs: properties(inputs),
        provider: if is_provider { String::new() } else { format!("{}::p1", urn(PROVIDER, "default")) },
        ..Resource::default()
    }
}

fn component(name: &str) -> Resource {
    let type_token = "shop:index:Group";
    Resource { urn: urn(type_token, name), type_token: type_token.to_owned(), ..Resource::default() }
}

fn secret(json: &Value) -> Value {
    json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": json.to_string() })
}

/// What is taken over into a stack that has a default provider, and what the stack had before by its names.
fn program(schema: &str, taken: &[Resource], before: &[(&str, Resource)]) -> Program {
    let named = taken.iter().map(|resource| (resource.urn.clone(), Said::default())).collect::<Vec<_>>();
    program_of(schema, taken, before, &named)
}

fn program_of(
    schema: &str,
    taken: &[Resource],
    before: &[(&str, Resource)],
    said: &[(Urn, Said)],
) -> Program {
    let mut resources = vec![resource(PROVIDER, "default", "p1", &json!({}))];
    resources.extend(before.iter().map(|(_, resource)| resource.clone()));
    resources.extend(taken.iter().cloned());
    let snapshot = Snapshot { resources, ..Snapshot::default() };
    let elsewhere =
        before.iter().map(|(name, resource)| (resource.urn.clone(), (*name).to_owned())).collect();
    let taken = Taken { snapshot: &snapshot, said, elsewhere: &elsewhere };
    let read = || match schema {
        "" => Err("its provider has no schema".to_owned()),
        text => Package::read(text).map_err(|error| error.to_string()),
    };
    let schemas = Schemas::known(taken.packages().into_iter().map(|package| (package, read())));
    Program::of(taken, &schemas, None).unwrap()
}

fn written(program: &Program) -> [String; 3] {
    LANGUAGES.map(|language| program.write(language).unwrap())
}

/// Something of everything.
fn rich() -> Program {
    let west = resource(
        PROVIDER,
        "us-west",
        "p2",
        &json!({
            "region": "us-west-2", "retries": "3", "accessKey": secret(&json!("key")), "version": "1.0.0", "__internal": {},
        }),
    );
    let text =
        json!({ "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "hi" });
    let archive = json!({
        "4dabf18193072939515e22adb298388d": "0def7320c3a5731c473e5ecbe6d01bc7", "assets": { "${a}.txt": text },
    });
    let mut item = resource(
        ITEM,
        "main-item",
        "item-1",
        &json!({
            "__defaults": [],
            "anything": { "camelKey": [1, null], "${key}": "x", "fn::join": "no call" },
            "bundle": archive,
            "enableDNSSupport": false,
            "from": "x\"y\\\n${z} $${q} é\u{2028}",
            "name": "web",
            "ratio": 1e21,
            "resourceTags": { "Cost Centre": "7 ${x}", "camelCase": "kept", "no": "item-1" },
            "secretText": secret(&json!("hunter2")),
            "size": 3,
            "sourceFile": "a.txt",
            "surplus": "is not in the schema",
            "trigger": { "kind": "event", "eventName": "made" },
        }),
    );
    item.protect = true;
    item.provider = format!("{}::p2", west.urn);
    item.parent = urn("shop:index:Group", "net");
    item.ignore_changes = vec!["size".to_owned()];
    let mut subnet = resource(
        SUBNET,
        "main",
        "subnet-1",
        &json!({
            "itemId": "item-1",
            "itemName": "web",
            "mode": "tcp",
            "rules": [{
                "fromPort": 80, "protocol": "udp", "cidrBlocks": [], "extraLabels": { "someKey": "subnet-1" },
                "next": { "fromPort": 81, "protocol": "tcp" }, "unknownOne": true,
            }],
            "rulesByName": { "httpRule": { "fromPort": 80, "protocol": "tcp" } },
        }),
    );
    subnet.dependencies = vec![item.urn.clone(), component("group").urn];
    let mut vault = resource(VAULT, "main", "vault-1", &json!({}));
    vault.outputs = properties(&json!({ "owner": "ana", "passPhrase": secret(&json!("hush")) }));
    vault.deleted_with = subnet.urn.clone();
    vault.retain_on_delete = true;
    let group = component("group");
    let taken = [subnet, vault, item, west, group];
    let named = |resource: &Resource| {
        let name = if resource.type_token == PROVIDER { "west" } else { resource.urn.name() };
        let package = PackageDescriptor {
            name: "bench".to_owned(),
            version: if resource.type_token == PROVIDER { "1.0.0".to_owned() } else { String::new() },
            ..PackageDescriptor::default()
        };
        (resource.urn.clone(), Said { name: name.to_owned(), package })
    };
    let said: Vec<(Urn, Said)> = taken.iter().map(named).collect();
    program_of(SCHEMA, &taken, &[("the net", component("net"))], &said)
}

#[test]
fn typescript() {
    insta::assert_snapshot!(rich().write("nodejs").unwrap());
}

#[test]
fn python() {
    insta::assert_snapshot!(rich().write("python").unwrap());
}

#[test]
fn yaml() {
    let text = rich().write("yaml").unwrap();
    insta::assert_snapshot!(text);
    let read: Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(read["resources"]["main-item"]["properties"]["from"], "x\"y\\\n$${z} $$$${q} é\u{2028}");
}

#[test]
fn without_a_schema_names_are_as_packages_usually_have_them() {
    let item = resource(
        "aws-native:ec2/vpc:Vpc",
        "main",
        "vpc-1",
        &json!({
            "cidrBlock": "10.0.0.0/16", "tags": { "camelCase": 1 }, "rules": [{ "fromPort": 80 }],
        }),
    );
    let [node, python, yaml] = written(&program("", &[item], &[]));
    let said = "Written without the schema of `aws-native`";
    for (text, comment, code) in [
        (node, "// ", "import * as aws_native from \"@pulumi/aws-native\";"),
        (python, "# ", "import pulumi_aws_native as aws_native"),
        (yaml, "# ", "type: aws-native:ec2/vpc:Vpc"),
    ] {
        assert_eq!(text.matches(&format!("{comment}{said}")).count(), 1, "{text}");
        assert!(text.contains(code) && text.contains("fromPort") && text.contains("camelCase"), "{text}");
    }
}

#[test]
fn s17_secrets_that_are_not_opened_are_masked() {
    let sealed = json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc" });
    let item = resource(ITEM, "a", "a", &json!({ "secretText": sealed, "anything": [sealed] }));
    let program = program(SCHEMA, &[item], &[]);
    assert!(program.hides_secrets());
    for text in written(&program) {
        assert!(text.matches("[secret]").count() == 2 && !text.contains("v1:abc"), "{text}");
    }
}

/// A text that several resources are known by says nothing of any of them, and nothing comes to need itself.
#[test]
fn resources_refer_to_others_only_where_that_is_clear() {
    let of = |inputs: [Value; 2]| {
        let [one, other] = inputs;
        let taken = [resource(ITEM, "one", "id-1", &one), resource(ITEM, "other", "id-2", &other)];
        program(SCHEMA, &taken, &[]).write("yaml").unwrap()
    };
    let text = of([json!({ "from": "id-2" }), json!({ "from": "id-1" })]);
    assert!(text.contains("from: ${other.id}") && text.contains("from: \"id-1\""), "{text}");
    let text = of([json!({ "name": "web" }), json!({ "name": "web", "from": "web" })]);
    assert!(text.contains("from: \"web\""), "{text}");
    let text = of([json!({ "from": "id-1", "secretText": secret(&json!("id-2")) }), json!({ "from": "" })]);
    assert!(!text.contains("${"), "{text}");
}

#[test]
fn what_the_stack_had_is_referred_to_by_its_id_and_said() {
    let before = resource(ITEM, "old", "item-0", &json!({ "name": "old" }));
    let taken = resource(SUBNET, "new", "subnet-0", &json!({ "itemId": "item-0", "itemName": "old" }));
    let [node, python, yaml] = written(&program(SCHEMA, &[taken], &[("base item", before)]));
    assert!(node.contains("itemId: base_item.id") && node.contains("itemName: \"old\""), "{node}");
    assert!(node.contains("// `base_item` is what your program has as urn:pulumi:dev::"), "{node}");
    assert!(python.contains("item_id=base_item.id"), "{python}");
    assert!(yaml.contains(r#"itemId: "${[\"base item\"].id}""#), "{yaml}");
}

/// Names that are illegal, reserved, or the same once they are made legal.
#[test]
fn variables_are_legal_and_nobody_elses() {
    let names = ["class", "a.b", "a-b", "a b", "pulumi", "bench", "7up", "größe", "a\nb"];
    let taken: Vec<Resource> = names.iter().map(|name| resource(ITEM, name, name, &json!({}))).collect();
    let [node, python, yaml] = written(&program(SCHEMA, &taken, &[]));
    let variables = |text: &str, start: &str, end: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(start)?.split_once(end));
        lines.map(|(name, _)| name.to_owned()).filter(|name| !name.starts_with([' ', '#'])).collect()
    };
    let of_node = variables(&node, "const ", " = new");
    assert_eq!(
        of_node,
        ["_class", "a_b", "a_b2", "a_b3", "pulumi2", "bench2", "_7up", "gr__e", "a_b4"],
        "{node}"
    );
    let of_python = variables(&python, "", " = bench.Item(");
    assert_eq!(
        of_python,
        ["class_", "a_b", "a_b2", "a_b3", "pulumi2", "bench2", "_7up", "gr__e", "a_b4"],
        "{python}"
    );
    let of_yaml: Value = serde_saphyr::from_str(&yaml).unwrap();
    let of_yaml: Vec<&String> = of_yaml["resources"].as_object().unwrap().keys().collect();
    assert_eq!(
        of_yaml,
        ["class", "a_b", "a-b", "a_b2", "pulumi2", "bench", "7up", "gr__e", "a_b3"],
        "{yaml}"
    );
    for text in [node, python, yaml] {
        assert!(text.contains("\"größe\"") && text.contains("\"a\\nb\""), "names stay: {text}");
    }
}

#[test]
fn packages_without_dictionaries_get_classes() {
    let schema = SCHEMA.replace("\"packageName\": \"shop_bench\"", "\"inputTypes\": \"classes\"");
    let taken = resource(
        SUBNET,
        "a",
        "a",
        &json!({ "itemId": "b", "rules": [{ "fromPort": 1, "protocol": "tcp" }] }),
    );
    let text = program(&schema, &[taken], &[]).write("python").unwrap();
    assert!(text.contains("import pulumi_bench as bench"), "{text}");
    assert!(text.contains("bench.network.RuleArgs(\n            from_port=1,"), "{text}");
}

#[test]
fn python_has_names_of_its_own() {
    for (name, python) in [
        ("cidrBlock", "cidr_block"),
        ("enableDNSSupport", "enable_dns_support"),
        ("publicIPs", "public_ips"),
        ("SHA256Hash", "sha256_hash"),
        ("openXJsonSerDe", "open_x_json_ser_de"),
        ("pluginDownloadURL", "plugin_download_url"),
        ("from", "from_"),
        ("yield", "yield_"),
        ("v2", "v2"),
        ("2fast", "_2fast"),
        ("a-b", "a_b"),
        ("resourceName", "resource_name"),
    ] {
        assert_eq!(drystone_sdks::names::snake_case(name), python, "{name}");
    }
    assert_eq!(drystone_sdks::names::python_argument("resourceName"), "resource_name_");
}

#[test]
fn types_stand_where_packages_have_them() {
    let schema = Package::read(SCHEMA).unwrap();
    let of = |token: &str, schema: Option<&Package>| {
        let class = drystone_sdks::Sdk::Node.class(token, schema);
        [vec![class.package], class.modules, vec![class.name]].concat().join(".")
    };
    for (token, place) in [
        ("random:index/randomPet:RandomPet", "random.RandomPet"),
        ("kubernetes:core/v1:Pod", "kubernetes.core.v1.Pod"),
        ("aws:s3/bucket:Bucket", "aws.s3.Bucket"),
        ("drystone:local:File", "drystone.local.File"),
        ("pulumi:providers:aws", "aws.Provider"),
    ] {
        assert_eq!(of(token, None), place);
    }
    assert_eq!(of("bench:net/subnet:Subnet", Some(&schema)), "bench.network.Subnet");
    assert_eq!(of("bench:index/item:Item", Some(&schema)), "bench.Item");
    assert_eq!(of("bench:a.b-c/some/thing:thing", Some(&schema)), "bench.a.b_c.some.Thing");
}

#[test]
fn a_runtime_that_nobody_knows_has_no_code() {
    let item = resource(ITEM, "a", "a", &json!({}));
    assert_eq!(program(SCHEMA, &[item], &[]).write("cobol"), None);
}

/// An object with one name that starts like a function is one in YAML, whatever is done.
#[test]
fn what_yaml_takes_for_a_function_is_said() {
    let of = |anything: Value| {
        let item = resource(ITEM, "a", "a", &json!({ "anything": anything }));
        program(SCHEMA, &[item], &[]).write("yaml").unwrap()
    };
    let text = of(json!([{ "fn::secret": 1 }]));
    assert!(text.contains("  # YAML takes it for a function, so see to it: fn::secret\n"), "{text}");
    let text = of(json!({ "fn::secret": 1, "other": 2 }));
    assert!(!text.contains('#'), "{text}");
}

/// A package that a plugin makes of a parameter has its own name and its own version, which its SDK tells.
#[test]
fn packages_that_are_made_of_parameters() {
    let mut provider = resource(
        PROVIDER,
        "default",
        "p1",
        &json!({
            "version": "2.0.0", "__internal": { "name": "base", "version": "1.0.0", "parameterization": "aGk=" },
        }),
    );
    provider.urn = urn(PROVIDER, "default_2_0_0");
    let mut item = resource(ITEM, "a", "a", &json!({ "size": 1 }));
    item.provider = format!("{}::p1", provider.urn);
    let mut package =
        PackageDescriptor { name: "base".to_owned(), version: "1.0.0".to_owned(), ..Default::default() };
    package.parameterization = Some(drystone_engine::Parameterization {
        name: "bench".to_owned(),
        version: "2.0.0".to_owned(),
        value: b"hi".to_vec(),
    });
    let said = [(item.urn.clone(), Said { name: "a".to_owned(), package })];
    for text in written(&program_of(SCHEMA, &[provider, item], &[], &said)) {
        assert!(
            text.contains("the package `bench`, which the plugin `base` makes of a parameter."),
            "{text}"
        );
        assert!(text.contains("size") && !text.contains("version"), "{text}");
    }
}

/// Programs give children the provider of their parents, whatever the state has.
#[test]
fn providers_that_programs_would_inherit_are_said() {
    let west = resource(PROVIDER, "west", "p2", &json!({}));
    let mut parent = resource(ITEM, "parent", "a", &json!({}));
    parent.provider = format!("{}::p2", west.urn);
    let mut child = resource(ITEM, "child", "b", &json!({}));
    child.parent = parent.urn.clone();
    let mut own = resource(ITEM, "own", "c", &json!({}));
    (own.parent, own.provider) = (parent.urn.clone(), parent.provider.clone());
    for text in written(&program(SCHEMA, &[west, parent, child, own], &[])) {
        assert_eq!(
            text.matches("In a program it has the provider of its parent, urn:pulumi:dev::").count(),
            1,
            "{text}"
        );
    }
}
