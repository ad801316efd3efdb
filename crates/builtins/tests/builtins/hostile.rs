//! Any inputs at all: they are refused or understood, and nothing breaks.

use crate::harness::{Bench, urn};
use drystone_engine::{CheckArguments, CreateArguments, DiffArguments, DiffChanges, PropertyMap, Provider};
use drystone_model::{
    Archive, Asset, AssetSource, Computed, Number, Output, ResourceReference, Secret, Urn, Value,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

/// Makes up values.
struct Maker(ChaCha8Rng);

impl Maker {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.next_u64() % end as u64).unwrap()
    }

    fn text(&mut self) -> String {
        const TEXTS: [&str; 16] = [
            "",
            "a",
            "..",
            "../a",
            "/",
            "a\0b",
            "é",
            "0644",
            "8",
            "-1",
            "1e400",
            "true",
            "30s",
            "2026-02-12T06:36:13Z",
            "http://127.0.0.1:1/",
            "zip",
        ];
        match self.below(20) {
            0 => "x".repeat(self.below(5000)),
            1 => "[".repeat(self.below(100)),
            other => TEXTS[other % TEXTS.len()].to_owned(),
        }
    }

    fn number(&mut self) -> Number {
        match self.below(8) {
            0 => Number::Float(f64::NAN),
            1 => Number::Float(f64::INFINITY),
            2 => Number::Literal("1e999999999".to_owned()),
            3 => Number::Integer(i128::MAX),
            4 => Number::from(i64::MIN),
            5 => Number::from(0.5),
            _ => Number::from(i64::try_from(self.below(40)).unwrap()),
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        let kinds = if depth == 0 { 10 } else { 15 };
        match self.below(kinds) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 | 3 => Value::Number(self.number()),
            4..=6 => Value::String(self.text()),
            7 => Value::Bytes(vec![0xff; self.below(9)]),
            8 => Value::Computed([Computed::String, Computed::Number, Computed::Array][self.below(3)]),
            9 => match self.below(4) {
                0 => Value::Asset(Asset { hash: String::new(), source: AssetSource::Text("x".to_owned()) }),
                1 => Value::Archive(Archive::default()),
                2 => Value::ResourceReference(ResourceReference { urn: Urn::new("x"), ..Default::default() }),
                _ => Value::Secret(Secret::Sealed("?".to_owned())),
            },
            10 | 11 => Value::Array((0..self.below(4)).map(|_| self.value(depth - 1)).collect()),
            12 => Value::Object((0..self.below(4)).map(|_| (self.text(), self.value(depth - 1))).collect()),
            13 => Value::secret(self.value(depth - 1)),
            _ => {
                let value = Some(self.value(depth - 1)).filter(|_| self.below(3) > 0);
                Value::Output(Box::new(Output {
                    value,
                    secret: self.below(2) == 0,
                    dependencies: Vec::new(),
                }))
            }
        }
    }

    fn properties(&mut self, names: &[String]) -> PropertyMap {
        let mut properties = PropertyMap::new();
        for name in names {
            if self.below(2) == 0 {
                properties.insert(name.clone(), self.value(3));
            }
        }
        if self.below(4) == 0 {
            properties.insert(self.text(), self.value(2));
        }
        properties
    }
}

#[test]
fn any_inputs_are_refused_or_understood() {
    let bench = Bench::new();
    let schema: Json = serde_json::from_str(&bench.run(bench.provider.schema(None)).unwrap()).unwrap();
    let mut understood = 0;
    for (token, resource) in schema["resources"].as_object().unwrap() {
        let names: Vec<String> = resource["inputProperties"].as_object().unwrap().keys().cloned().collect();
        for seed in 0..1500 {
            let mut maker = Maker(ChaCha8Rng::seed_from_u64(seed));
            let inputs = maker.properties(&names);
            let at = || format!("{token}, seed {seed}");
            let arguments = CheckArguments {
                urn: urn(token, "x"),
                new_inputs: inputs,
                dry_run: true,
                ..Default::default()
            };
            let checked = bench
                .run(bench.provider.check(arguments))
                .unwrap_or_else(|error| panic!("{}: {error}", at()));
            let too_long = checked.failures.iter().find(|failure| failure.reason.len() > 1000);
            assert!(too_long.is_none(), "{}: {too_long:?}", at());
            if !checked.failures.is_empty() {
                continue;
            }
            understood += 1;
            // What was checked passes again as it is.
            let again = CheckArguments {
                urn: urn(token, "x"),
                new_inputs: checked.properties.clone(),
                ..Default::default()
            };
            let again = bench.run(bench.provider.check(again)).unwrap();
            assert_eq!((again.failures.len(), &again.properties), (0, &checked.properties), "{}", at());
            let create = CreateArguments {
                urn: urn(token, "x"),
                inputs: checked.properties.clone(),
                dry_run: true,
                ..Default::default()
            };
            let foreseen = bench.run(bench.provider.create(create)).unwrap().outputs;
            let diff = DiffArguments {
                urn: urn(token, "x"),
                old_inputs: checked.properties.clone(),
                new_inputs: checked.properties.clone(),
                old_outputs: foreseen,
                dry_run: true,
                ..Default::default()
            };
            let diff =
                bench.run(bench.provider.diff(diff)).unwrap_or_else(|error| panic!("{}: {error}", at()));
            let unknown = checked.properties.values().any(Value::contains_unknowns);
            assert!(unknown || diff.changes == DiffChanges::None, "{}: {diff:#?}", at());
        }
    }
    assert!(understood > 500, "only {understood} were understood");
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 0, "a preview left something");
}
