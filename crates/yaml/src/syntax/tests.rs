use super::*;

fn entry(text: &str, path: &[&str]) -> Node {
    let mut node = parse(text).unwrap();
    for name in path {
        let entries = node.entries().unwrap();
        node = entries.iter().find(|entry| entry.key.as_str() == *name).unwrap().value.clone();
    }
    node
}

#[test]
fn everything_knows_its_place() {
    let text = "a: 1\nb:\n  cé: [x, 'two words']\n  d: |\n    text\n";
    let place = |path: &[&str]| {
        let span = entry(text, path).span;
        (span.line, span.column, span.length)
    };
    assert_eq!(place(&["a"]), (1, 4, 1));
    assert_eq!(place(&["b"]), (3, 3, 1));
    assert_eq!(place(&["b", "cé"]), (3, 7, 1));
    let Kind::List(items) = entry(text, &["b", "cé"]).kind else { panic!() };
    assert_eq!((items[1].span.line, items[1].span.column, items[1].span.length), (3, 11, 11));
    let keys: Vec<u32> =
        parse(text).unwrap().entries().unwrap().iter().map(|entry| entry.key.span.line).collect();
    assert_eq!(keys, [1, 2]);
}

#[test]
fn only_the_first_document_counts() {
    assert_eq!(entry("---\na: 1\n---\na: 2\n", &["a"]).kind, Kind::Number(1.0));
}

#[test]
fn json_is_yaml() {
    let text = "{\n\t\"a\": {\"b\": [1, null, true, \"x\\u00fc\"]}\n}";
    let Kind::List(items) = entry(text, &["a", "b"]).kind else { panic!() };
    assert_eq!(items[3].kind, Kind::String("xü".into()));
}

#[test]
fn tags_say_what_a_scalar_is() {
    assert_eq!(entry("a: !!str 5", &["a"]).kind, Kind::String("5".into()));
    assert_eq!(entry("a: !!int '5'", &["a"]).kind, Kind::Number(5.0));
    assert_eq!(entry("a: !mine 5", &["a"]).kind, Kind::String("5".into()));
    assert!(parse("a: !!int x").is_err());
}
