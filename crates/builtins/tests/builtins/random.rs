//! Random values: made once from a seed, made again when a keeper changes, imported by what they are.

use crate::harness::Bench;
use serde_json::{Value as Json, json};

const ALL: [&str; 9] = [
    "random:RandomId",
    "random:RandomUuid",
    "random:RandomPet",
    "random:Pet",
    "random:RandomString",
    "random:RandomPassword",
    "random:RandomInteger",
    "random:RandomShuffle",
    "random:RandomBytes",
];

fn inputs(kind: &str) -> Json {
    match kind {
        "random:RandomId" => json!({ "byteLength": 5, "prefix": "web-" }),
        "random:RandomString" | "random:RandomPassword" | "random:RandomBytes" => json!({ "length": 20 }),
        "random:RandomInteger" => json!({ "min": 1, "max": 1_000_000_000 }),
        "random:RandomShuffle" => json!({ "inputs": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] }),
        "random:RandomPet" | "random:Pet" => json!({ "length": 4 }),
        _ => json!({}),
    }
}

#[test]
fn the_same_seed_makes_the_same_and_another_one_another() {
    for kind in ALL {
        let make = |seed| {
            let thing = Bench::seeded(seed).create(kind, &inputs(kind));
            (thing.id, thing.outputs)
        };
        assert_eq!(make(1), make(1), "{kind}");
        assert_ne!(make(1), make(2), "{kind}");
    }
}

#[test]
fn a_value_is_kept_until_a_keeper_or_an_input_changes() {
    for kind in ALL {
        let bench = Bench::new();
        let mut program = inputs(kind);
        program["keepers"] = json!({ "v": "1" });
        let thing = bench.create(kind, &program);
        assert_eq!(bench.changes(&thing, &program), [""; 0], "{kind}");
        let seen = bench.read(&thing).unwrap();
        assert_eq!(
            (&seen.id, &seen.outputs, &seen.inputs),
            (&thing.id, &thing.outputs, &thing.inputs),
            "{kind}"
        );
        program["keepers"] = json!({ "v": "2", "w": "1" });
        assert_eq!(
            bench.changes(&thing, &program),
            ["update-replace keepers.v", "add-replace keepers.w"],
            "{kind}"
        );
        let diff = bench.diff(&thing, &program);
        assert_eq!(
            (diff.replace_keys, diff.changed_keys),
            (vec!["keepers".to_owned()], vec!["keepers".to_owned()])
        );
        bench.delete(&thing);
    }
}

#[test]
fn an_id_is_written_in_four_ways() {
    let thing = Bench::new().create("random:RandomId", &json!({ "byteLength": 4, "prefix": "web-" }));
    let hex = thing.text("hex");
    let number = u32::from_str_radix(hex.strip_prefix("web-").unwrap(), 16).unwrap();
    assert_eq!(thing.text("dec"), format!("web-{number}"));
    assert_eq!(thing.text("b64Url"), format!("web-{}", thing.id));
    assert_eq!(thing.text("b64Std").len(), "web-".len() + 8);
    let hidden =
        Bench::new().create("random:RandomId", &json!({ "byteLength": 4, "prefix": { "secret": "hush-" } }));
    assert!(["b64Std", "b64Url", "dec", "hex"].iter().all(|key| hidden.is_secret(key)));
}

#[test]
fn a_pet_has_its_words_prefix_and_separator() {
    let bench = Bench::new();
    let plain = bench.create("random:Pet", &json!({}));
    assert_eq!(plain.id.split('-').count(), 2, "{}", plain.id);
    let long = bench.create("random:RandomPet", &json!({ "length": 5, "prefix": "shop", "separator": "_" }));
    assert_eq!(long.id.split('_').count(), 6, "{}", long.id);
    assert!(long.id.starts_with("shop_"));
}

#[test]
fn a_text_keeps_to_its_classes_and_minimums() {
    for seed in 0..200 {
        let bench = Bench::seeded(seed);
        let thing = bench.create(
            "random:RandomString",
            &json!({ "length": 8, "upper": false, "minNumeric": 3, "minSpecial": 2, "overrideSpecial": "é_" }),
        );
        let text = thing.text("result");
        let count = |holds: fn(char) -> bool| text.chars().filter(|letter| holds(*letter)).count();
        assert_eq!((thing.id.as_str(), text.chars().count()), (text.as_str(), 8), "{text}");
        assert!(count(|letter| letter.is_ascii_digit()) >= 3, "{text}");
        assert!(count(|letter| "é_".contains(letter)) >= 2, "{text}");
        assert_eq!(count(|letter| letter.is_ascii_uppercase() || "!@#$".contains(letter)), 0, "{text}");
    }
}

#[test]
fn s17_passwords_and_bytes_are_secret_in_previews_too() {
    let bench = Bench::new();
    let password = bench.create("random:RandomPassword", &json!({ "length": 16 }));
    assert_eq!(password.id, "none");
    assert!(password.is_secret("result") && password.is_secret("bcryptHash"));
    let hash = password.text("bcryptHash");
    assert!(hash.starts_with("$2a$10$") && hash.len() == 60, "{hash}");
    assert!(bcrypt::verify(password.text("result"), &hash).unwrap());
    let bytes = bench.create("random:RandomBytes", &json!({ "length": 16 }));
    assert!(bytes.is_secret("base64") && bytes.is_secret("hex"));
    let foreseen = bench.preview("random:RandomPassword", &json!({ "length": 16 }));
    assert!(foreseen["result"].is_secret() && foreseen["result"].contains_unknowns());
    assert!(!format!("{password:?}").contains(&password.text("result")));
}

#[test]
fn an_integer_covers_its_range_evenly() {
    let mut seen = [0; 5];
    for seed in 0..1000 {
        let thing = Bench::seeded(seed).create("random:RandomInteger", &json!({ "min": -2, "max": 2 }));
        let result = thing.output("result").as_i64().unwrap();
        assert_eq!(thing.id, result.to_string());
        seen[usize::try_from(result + 2).unwrap()] += 1;
    }
    assert!(seen.iter().all(|count| (120..280).contains(count)), "{seen:?}");
    for range in [(i64::MIN, i64::MAX), (i64::MAX, i64::MAX), (i64::MIN, i64::MIN)] {
        let inputs = json!({ "min": range.0, "max": range.1 });
        let result = Bench::new().create("random:RandomInteger", &inputs).output("result").as_i64().unwrap();
        assert!((range.0..=range.1).contains(&result));
    }
}

#[test]
fn a_seed_stands_for_the_same_values_for_ever() {
    let bench = Bench::new();
    let number = |bench: &Bench| {
        bench.create("random:RandomInteger", &json!({ "min": 1, "max": 1000, "seed": "s" })).id
    };
    assert_eq!((number(&bench).as_str(), number(&bench).as_str()), ("767", "767"));
    let shuffle =
        bench.create("random:RandomShuffle", &json!({ "inputs": ["a", "b", "c", "d"], "seed": "s" }));
    assert_eq!(shuffle.output("results"), json!(["a", "b", "d", "c"]));
}

#[test]
fn a_shuffle_takes_fewer_or_repeats() {
    let bench = Bench::new();
    let list = json!(["a", "b", "c"]);
    let results = |count: i64| {
        let thing = bench.create("random:RandomShuffle", &json!({ "inputs": list, "resultCount": count }));
        thing.output("results").as_array().unwrap().clone()
    };
    assert_eq!((results(0).len(), results(2).len(), results(7).len()), (0, 2, 7));
    let mut round: Vec<Json> = results(7)[3..6].to_vec();
    round.sort_by_key(ToString::to_string);
    assert_eq!(json!(round), list);
    let none = bench.create("random:RandomShuffle", &json!({ "inputs": [], "resultCount": 3 }));
    assert_eq!(none.output("results"), json!([]));
    let hidden = bench.create("random:RandomShuffle", &json!({ "inputs": { "secret": ["a"] } }));
    assert!(hidden.is_secret("results"));
}

#[test]
fn what_exists_is_imported_and_shows_no_change() {
    let bench = Bench::new();
    let id = bench.import("random:RandomId", "web-,p-9hUg");
    assert_eq!((id.id.as_str(), id.text("hex").as_str()), ("p-9hUg", "web-a7ef6152"));
    let uuid = "aabbccdd-eeff-4011-8233-445566778899";
    assert_eq!(bench.import("random:RandomUuid", &uuid.to_uppercase()).text("result"), uuid);
    let pet = bench.import("random:Pet", "my-shop-gladly-brave-otter");
    assert_eq!((pet.output("length"), pet.text("prefix").as_str()), (json!(3), "my-shop"));
    let text = bench.import("random:RandomString", "abc123~");
    assert_eq!((text.output("upper"), text.text("overrideSpecial").as_str()), (json!(false), "~"));
    let password = bench.import("random:RandomPassword", "hush-Hush~1");
    assert!(password.is_secret("result") && !password.inputs.contains_key("overrideSpecial"));
    assert_eq!((password.id.as_str(), password.text("result").as_str()), ("none", "hush-Hush~1"));
    assert_eq!(bench.import("random:RandomInteger", "15390,1,50000,s").output("result"), json!(15390));
    assert_eq!(bench.import("random:RandomShuffle", r#"["b","a"]"#).output("results"), json!(["b", "a"]));
    assert_eq!(bench.import("random:RandomBytes", "AAEC").text("hex"), "000102");
}

#[test]
fn what_cannot_be_is_not_imported() {
    let bench = Bench::new();
    for (kind, id) in [
        ("random:RandomId", "???"),
        ("random:RandomUuid", "no-uuid"),
        ("random:Pet", "no pet"),
        ("random:RandomInteger", "1"),
        ("random:RandomInteger", "9,1,5"),
        ("random:RandomShuffle", "a,b"),
        ("random:RandomBytes", "???"),
    ] {
        assert!(bench.try_import(kind, id).is_err(), "{kind} {id}");
    }
}
