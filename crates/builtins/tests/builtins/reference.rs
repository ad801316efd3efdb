//! The schema is whole, and the documents follow it.

use crate::harness::{Bench, urn};
use drystone_engine::{CheckArguments, Provider};
use serde_json::Value as Json;
use std::path::Path;

fn schema() -> Json {
    let bench = Bench::new();
    serde_json::from_str(&bench.run(bench.provider.schema(None)).unwrap()).unwrap()
}

#[test]
fn every_resource_of_the_schema_is_served() {
    let (bench, schema) = (Bench::new(), schema());
    let resources = schema["resources"].as_object().unwrap();
    assert_eq!(resources.len(), 18);
    for (token, resource) in resources {
        let arguments = CheckArguments { urn: urn(token, "x"), ..CheckArguments::default() };
        bench.run(bench.provider.check(arguments)).unwrap_or_else(|error| panic!("{token}: {error}"));
        let inputs = resource["inputProperties"].as_object().unwrap();
        let outputs = resource["properties"].as_object().unwrap();
        for name in resource["requiredInputs"].as_array().unwrap() {
            assert!(inputs.contains_key(name.as_str().unwrap()), "{token} {name}");
        }
        for name in resource["required"].as_array().unwrap() {
            assert!(outputs.contains_key(name.as_str().unwrap()), "{token} {name}");
        }
        for (name, input) in inputs {
            assert_eq!(input["type"], outputs[name]["type"], "{token} {name}");
        }
        let all = inputs.values().chain(outputs.values()).chain([resource]);
        assert!(
            all.clone().all(|it| it["description"].as_str().is_some_and(|text| text.ends_with(['.', ')']))),
            "{token}"
        );
        let says = resource["description"].as_str().unwrap();
        assert!(says.contains("Import it by ") || says.contains("cannot be imported"), "{token}");
    }
    assert_eq!(schema["functions"].as_object().unwrap().len(), 3);
    for reference in references(&schema) {
        let known = reference == "pulumi.json#/Any"
            || schema["types"].get(reference.trim_start_matches("#/types/")).is_some();
        assert!(known, "{reference}");
    }
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn the_stock_cli_takes_the_schema() {
    let pulumi = std::env::var_os("DRYSTONE_PEER_PULUMI").expect("DRYSTONE_PEER_PULUMI is not set");
    let bench = Bench::new();
    std::fs::write(bench.path("schema.json"), schema().to_string()).unwrap();
    let mut check = std::process::Command::new(pulumi);
    check.args(["schema", "check", "schema.json"]).current_dir(bench.folder.path());
    let checked = check
        .env("PULUMI_HOME", bench.folder.path())
        .env("PULUMI_SKIP_UPDATE_CHECK", "true")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&checked.stderr) + String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success() && !told.contains("warning"), "{told}");
}

fn references(json: &Json) -> Vec<&str> {
    match json {
        Json::Object(members) => {
            let own = members.get("$ref").and_then(Json::as_str);
            own.into_iter().chain(members.values().flat_map(references)).collect()
        }
        Json::Array(elements) => elements.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_reference_is_what_the_schema_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/built-in-resources.md");
    if std::env::var_os("DRYSTONE_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, drystone_builtins::reference()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == drystone_builtins::reference(),
        "{} is stale; write it again with DRYSTONE_WRITE_REFERENCE=1 cargo test -p drystone-builtins reference",
        path.display()
    );
}
