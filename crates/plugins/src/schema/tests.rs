use super::*;
use std::sync::Arc;

fn package() -> Arc<Package> {
    let schema = r##"{
        "name": "aws", "version": "6.0.0",
        "config": { "variables": { "region": { "type": "string" } } },
        "types": {
            "aws:s3/Node:Node": {
                "type": "object",
                "properties": {
                    "next": { "$ref": "#/types/aws:s3%2FNode:Node" },
                    "fixed": { "type": "string", "replaceOnChanges": true },
                    "list": { "type": "array", "items": { "$ref": "#/types/aws:s3/Node:Node" } }
                }
            },
            "aws:broken:Type": 5
        },
        "resources": {
            "aws:s3/bucket:Bucket": {
                "inputProperties": {
                    "dangling": { "$ref": "#/types/aws:no:Where" },
                    "foreign": { "$ref": "/gcp/v1.0.0/schema.json#/types/gcp:a:B" },
                    "odd": { "type": ["string"] },
                    "broken": { "$ref": "#/types/aws:broken:Type" }
                },
                "properties": {
                    "node": { "$ref": "#/types/aws:s3/Node:Node" },
                    "tags": { "type": "object", "replaceOnChanges": true }
                },
                "requiredInputs": ["nobody"]
            },
            "aws:index:Thing": {},
            "aws:wafv2/ipSet:IpSet": {},
            "aws:bad:Bad": 7
        },
        "functions": {
            "aws:s3/getBucket:getBucket": { "outputs": { "properties": { "arn": { "type": "string" } } } },
            "aws:index:number": { "returnType": { "type": "number" } }
        }
    }"##;
    Package::read(schema).unwrap()
}

#[test]
fn short_tokens_stand_for_whole_ones() {
    let package = package();
    for (short, whole) in [
        ("aws:s3:Bucket", Some("aws:s3/bucket:Bucket")),
        ("aws:s3/bucket:Bucket", Some("aws:s3/bucket:Bucket")),
        ("aws:S3:bucket", Some("aws:s3/bucket:Bucket")),
        ("aws:Thing", Some("aws:index:Thing")),
        ("aws:thing", Some("aws:index:Thing")),
        ("aws:wafv2:IPSet", Some("aws:wafv2/ipSet:IpSet")),
        ("pulumi:providers:aws", Some("pulumi:providers:aws")),
        ("pulumi:providers:gcp", None),
        ("aws:Bucket", None),
        ("aws", None),
        ("aws:a:b:c", None),
    ] {
        assert_eq!(package.resolve_resource(short).as_deref(), whole, "{short}");
    }
    assert_eq!(package.resolve_function("aws:s3:getBucket").as_deref(), Some("aws:s3/getBucket:getBucket"));
}

#[test]
fn types_that_hold_themselves_and_types_that_are_not_there() {
    let package = package();
    let bucket = package.resource("aws:s3/bucket:Bucket").unwrap();
    for name in ["dangling", "foreign", "odd"] {
        assert!(matches!(bucket.inputs[name].kind, Type::Unknown), "{name}");
    }
    assert_eq!(bucket.replace_on_changes(), ["node.fixed", "node.list[*].fixed", "tags.*"]);
    assert!(package.resource("aws:bad:Bad").is_err() && package.resource("aws:no:No").is_err());
    let provider = package.resource("pulumi:providers:aws").unwrap();
    assert!(provider.inputs.contains_key("region"), "what can be configured stands in for the provider");
}

#[test]
fn functions_give_objects_or_single_values() {
    let package = package();
    let bucket = package.function("aws:s3/getBucket:getBucket").unwrap();
    assert!(bucket.outputs.is_some() && bucket.single.is_none());
    assert!(matches!(package.function("aws:index:number").unwrap().single, Some(Type::Number)));
}

#[test]
fn schemas_that_make_no_sense_are_refused() {
    for text in ["", "5", "{", "[]", r#"{"resources": 5}"#] {
        assert!(Package::read(text).is_err(), "{text}");
    }
    assert!(Package::read("{}").is_ok());
}

#[test]
fn languages_have_names_of_their_own() {
    let package = Package::read(
        r##"{
            "name": "aws", "namespace": "shop",
            "meta": { "moduleFormat": "(.*)(?:/[^/]*)" },
            "language": {
                "nodejs": { "packageName": "@shop/aws", "moduleToPackage": { "s3": "storage" } },
                "python": { "moduleNameOverrides": 5 }
            }
        }"##,
    )
    .unwrap();
    for (token, module) in [
        ("aws:s3/bucket:Bucket", "s3"),
        ("aws:core/v1/pod:Pod", "core/v1"),
        ("aws:index/thing:Thing", ""),
        ("aws:index:Thing", ""),
        ("pulumi:providers:aws", ""),
        ("aws:Thing", ""),
    ] {
        assert_eq!(package.module(token), module, "{token}");
    }
    let node = package.language("nodejs");
    assert_eq!((node.package_name.as_str(), node.module_to_package["s3"].as_str()), ("@shop/aws", "storage"));
    assert_eq!(package.language("python"), Language::default(), "what makes no sense is not there");
    assert_eq!(package.language("cobol"), Language::default());
    let package = Package::read(r#"{"meta": {"moduleFormat": "("}, "language": []}"#).unwrap();
    assert_eq!(package.module("aws:s3/bucket:Bucket"), "s3/bucket");
}

#[test]
fn what_tells_the_types_of_a_union_apart() {
    let package = Package::read(
        r##"{ "resources": { "a:b:C": { "inputProperties": {
            "told": {
                "oneOf": [{ "$ref": "#/types/a:b:D" }],
                "discriminator": { "propertyName": "kind", "mapping": { "d": "#/types/a:b%3AD" } }
            },
            "untold": { "oneOf": [{ "type": "string", "plain": true }], "discriminator": 5 },
            "plain": { "type": "string", "plain": true, "default": "x" }
        } } } }"##,
    )
    .unwrap();
    let resource = package.resource("a:b:C").unwrap();
    let of = |name: &str| match &resource.inputs[name].kind {
        Type::Union(union) => union.discriminator.clone(),
        _ => None,
    };
    let told = of("told").unwrap();
    assert_eq!((told.property.as_str(), told.types["d"].as_str()), ("kind", "a:b:D"));
    assert_eq!(of("untold"), None);
    assert!(resource.inputs["plain"].plain && resource.inputs["plain"].default == Some("x".into()));
}
