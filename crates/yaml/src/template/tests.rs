use super::access::interpolate;
use super::*;
use crate::syntax;

fn read(text: &str) -> (Template, Vec<String>) {
    let (template, diagnostics) = Template::read(&syntax::parse(text).unwrap());
    (template, diagnostics.iter().map(|diagnostic| diagnostic.summary.clone()).collect())
}

#[test]
fn ways_into_values_are_read_and_written() {
    for text in [
        "root",
        "root.nested",
        "root[\"nested\"]",
        "root.array[0][1].nested",
        "root[\"key with \\\"escaped\\\" quotes\"]",
        "[\"root key with a .\"][\"x\"]",
        "aws:region",
    ] {
        let parts = interpolate(&format!("${{{text}}}")).unwrap();
        assert_eq!(parts.len(), 1, "{text}");
        assert_eq!(parts[0].access.as_ref().unwrap().to_string(), text);
    }
}

#[test]
fn texts_are_taken_apart() {
    let parts = interpolate("a$$b${c}d$e${f.g}$").unwrap();
    let shown: Vec<(String, Option<String>)> =
        parts.iter().map(|part| (part.text.clone(), part.access.as_ref().map(ToString::to_string))).collect();
    let expected = [("a$b", Some("c")), ("d$e", Some("f.g")), ("$", None)];
    assert_eq!(shown, expected.map(|(text, access)| (text.to_owned(), access.map(str::to_owned))));
}

#[test]
fn every_option_is_read() {
    let options: Vec<String> = RESOURCE_OPTIONS
        .iter()
        .map(|name| match *name {
            "additionalSecretOutputs" | "ignoreChanges" | "replaceOnChanges" | "hideDiffs" => {
                format!("{name}: [x]")
            }
            "deleteBeforeReplace" | "retainOnDelete" => format!("{name}: true"),
            "customTimeouts" => format!("{name}: {{ create: 1m, update: 2m, delete: 3m }}"),
            _ => format!("{name}: x"),
        })
        .collect();
    let (template, said) =
        read(&format!("resources: {{ a: {{ type: t, options: {{ {} }} }} }}", options.join(", ")));
    assert_eq!(said, [""; 0]);
    let options = &template.resources[0].options;
    assert_eq!(options.additional_secret_outputs.len() + options.ignore_changes.len(), 2);
    assert_eq!(options.replace_on_changes.len() + options.hide_diffs.len(), 2);
    let shared = [
        &options.aliases,
        &options.depends_on,
        &options.parent,
        &options.protect,
        &options.provider,
        &options.providers,
        &options.replace_with,
        &options.deleted_with,
        &options.replacement_trigger,
        &options.env_var_mappings,
    ];
    assert!(shared.iter().all(|option| option.is_some()));
    assert!(
        [&options.import, &options.version, &options.plugin_download_url].iter().all(|text| text.is_some())
    );
    assert_eq!((options.delete_before_replace, options.retain_on_delete), (Some(true), Some(true)));
    assert!(options.custom_timeouts.as_ref().is_some_and(|timeouts| timeouts.delete.is_some()));
}

#[test]
fn objects_with_more_than_a_function_are_objects() {
    let (template, said) = read("variables: { a: { 'fn::join': [x, y], b: 1 }, c: { 'fn::toJSON': [] } }");
    assert_eq!(said, [""; 0]);
    assert!(matches!(template.variables[0].1.form, Form::Object(_)));
    assert!(matches!(template.variables[1].1.form, Form::Call(_)));
}

#[test]
fn components_are_read() {
    let (template, said) = read(
        "name: p\ncomponents: { C: { inputs: { a: { type: array, items: { type: string } } }, outputs: { o: '${a}' } } }",
    );
    assert_eq!(said, [""; 0]);
    let component = &template.components[0];
    assert_eq!(
        component.template.config[0].items.as_ref().unwrap().kind.as_ref().unwrap().as_str(),
        "string"
    );
    assert_eq!(component.template.outputs.len(), 1);
}
