//! Programs in YAML that are wrong: both refuse them, and leave the same behind.

use crate::case::{Case, items, of_items, yaml};

/// A program that is refused after one that was brought up.
fn refused(program: &str) -> Case {
    yaml("resources: { keep: { type: ledger:Item } }\noutputs: { kept: '${keep.name}' }\n")
        .up()
        .program(program)
        .up_fails()
}

fn refused_items(list: &[&str]) -> Case {
    refused(&items(list))
}

cases! {
    a_property_that_there_is_not: refused_items(&["keep | sise: 1"]);
    a_property_of_another_type: refused_items(&["keep | size: [1]"]);
    a_tag_of_another_type: refused_items(&["keep | tags: { a: [b] }"]);
    a_member_that_there_is_not: refused_items(&["keep", "b | value: '${keep.nothing}'"]);
    a_name_that_there_is_not: refused_items(&["keep | value: '${nobody.name}'"]);
    a_type_that_there_is_not: refused("resources: { keep: { type: ledger:Itme } }\n");
    a_package_that_there_is_not: refused("resources: { keep: { type: nowhere:Item } }\n");
    no_type: refused("resources: { keep: { properties: { size: 1 } } }\n");
    a_field_that_there_is_not: refused("resources: { keep: { type: ledger:Item, sise: 1 } }\n");
    an_option_that_there_is_not: refused_items(&["keep | size: 1 | protct: true"]);
    a_cycle: refused_items(&["a | value: '${b.name}'", "b | value: '${a.name}'"]);
    a_resource_that_needs_itself: refused_items(&["a | value: '${a.name}'"]);
    a_cycle_of_variables: refused("variables: { a: '${b}', b: '${a}' }\nresources: {}\n");
    a_name_twice: refused("variables: { keep: 1 }\nresources: { keep: { type: ledger:Item } }\n");
    a_reserved_name: refused("variables: { pulumi: 1 }\nresources: {}\n");
    components_in_a_program: refused("components: { c: { resources: {} } }\nresources: {}\n");
    properties_and_get: refused("resources: { keep: { type: ledger:Item, properties: { size: 1 }, get: { id: x } } }\n");
    a_default_provider_that_is_none: refused("resources: { keep: { type: ledger:Item, defaultProvider: true } }\n");
    config_that_is_missing: refused("config: { need: { type: string } }\nresources: {}\n");
    depends_on_something_else: refused_items(&["keep", "b | size: 1 | dependsOn: [keep]"]);
    depends_on_no_list: refused_items(&["keep", "b | size: 1 | dependsOn: '${keep}'"]);
    a_parent_that_is_an_output: refused_items(&["keep", "b | size: 1 | parent: '${keep.name}'"]);
    a_provider_that_is_none: refused_items(&["keep", "b | size: 1 | provider: '${keep}'"]);
    protection_by_an_output: refused_items(&["keep", "b | size: 1 | protect: '${keep.name}'"]);
    an_unfinished_interpolation: refused_items(&["keep | value: '${keep'"]);
    a_list_for_an_object: refused("resources: [keep]\n");
    a_resource_that_is_a_text: refused("resources: { keep: ledger:Item }\n");
    an_index_into_an_object: refused_items(&["keep", "b | value: '${keep.tags[0]}'"]);
    a_name_in_a_list: refused("variables: { l: [1] }\nresources: { keep: { type: ledger:Item, properties: { value: '${l.x}' } } }\n");
    a_file_that_there_is_not: refused("resources:\n  keep: { type: ledger:Item }\n  b: { type: ledger:Item, properties: { value: { 'fn::readFile': nowhere.txt } } }\n  c: { type: ledger:Item }\n");
    an_asset_that_there_is_not: refused_items(&["keep", "b | value: { 'fn::fileAsset': nowhere.txt }"]);
    a_version_out_of_range: refused("pulumi: { requiredVersion: '>=99.0.0' }\nresources: { keep: { type: ledger:Item } }\n");
    a_version_in_range: yaml("pulumi: { requiredVersion: '>=3.0.0' }\nresources: { a: { type: ledger:Item } }\n").up();
    what_comes_before_a_fault_is_made: of_items(&["a", "b | value: { 'fn::select': [9, [1]] }", "c", "d | value: '${b.name}'"]).up_fails();
    outputs_of_what_went_well: yaml("resources:
  a: { type: ledger:Item }
  b: { type: ledger:Item, properties: { value: { 'fn::select': [9, [1]] } } }
outputs: { a: '${a.name}', b: '${b.name}', wrong: { 'fn::select': [9, [1]] } }
").up_fails();
    a_failed_resource_and_its_dependents: yaml("resources:
  a: { type: ledger:Item, properties: { failOn: create } }
  b: { type: ledger:Item, properties: { value: '${a.name}' } }
outputs: { b: '${b.name}' }
").up_fails();
}
