//! The functions of the YAML language.

use crate::case::{Case, yaml};

/// A program whose only output is what a function gives; `a` is an Item, `list` has three texts.
fn gives(call: &str) -> Case {
    yaml(&format!(
        "variables:
  list: [a, b, c]
resources:
  a: {{ type: ledger:Item, properties: {{ value: {{ list: [x, y], n: 1 }}, tags: {{ t: u }} }} }}
outputs:
  it: {call}
"
    ))
    .file("file.txt", &"läuft\n")
    .up()
}

fn fails(call: &str) -> Case {
    let mut case = gives(call);
    case.steps.pop();
    case.up_fails()
}

cases! {
    join: gives("{ 'fn::join': ['-', [a, '${a.name}', '${list[2]}']] }");
    join_without_a_delimiter: gives("{ 'fn::join': ['', '${list}'] }");
    join_with_a_secret: gives("{ 'fn::join': [',', ['${a.token}', x]] }");
    join_of_a_split: gives("{ 'fn::join': ['+', { 'fn::split': ['-', a-b-c] }] }");
    split: gives("{ 'fn::split': [',', 'a,b,,c'] }");
    split_into_characters: gives("{ 'fn::split': ['', 'aü✓'] }");
    split_of_an_output: gives("{ 'fn::split': ['a', '${a.name}'] }");
    select: gives("{ 'fn::select': [1, '${list}'] }");
    select_from_an_output: gives("{ 'fn::select': [1, '${a.value.list}'] }");
    select_from_mixed_values: gives("{ 'fn::select': [1, [1, { k: v }, three]] }");
    to_json: gives("{ 'fn::toJSON': { b: [1, 2.5, null, true], a: '<&>\\u2028', big: 12345678, tiny: 0.0000001, 'ü': { z: 1 } } }");
    to_json_of_outputs: gives("{ 'fn::toJSON': { v: '${a.value}', t: '${a.tags}', s: '${a.serial}' } }");
    to_json_of_a_secret: gives("{ 'fn::toJSON': { s: '${a.token}' } }");
    to_base64: gives("{ 'fn::toBase64': 'ü ${a.name}' }");
    from_base64: gives("{ 'fn::fromBase64': 'w7w=' }");
    secret: gives("{ 'fn::secret': { a: [1, '${a.name}'] } }");
    unsecret: gives("{ 'fn::unsecret': '${a.token}' }");
    unsecret_of_a_plain_value: gives("{ 'fn::unsecret': [1] }");
    read_file: gives("{ 'fn::readFile': ./file.txt }");
    file_base64: gives("{ 'fn::filebase64': file.txt }");
    file_base64_sha256: gives("{ 'fn::filebase64sha256': file.txt }");
    sha1: gives("{ 'fn::sha1': 'abc ${a.name}' }");
    length_of_a_list: gives("{ 'fn::length': '${list}' }");
    length_of_an_object: gives("{ 'fn::length': { a: 1, b: 2 } }");
    length_of_a_text: gives("{ 'fn::length': 'e\u{301}ü👨‍👩‍👧 x' }");
    length_of_an_output: gives("{ 'fn::length': '${a.value.list}' }");
    single_of_one: gives("{ 'fn::singleOrNone': [x] }");
    single_of_none: gives("{ 'fn::singleOrNone': [] }");
    the_name_of_a_resource: gives("{ 'fn::pulumiResourceName': '${a}' }");
    the_type_of_a_resource: gives("{ 'fn::pulumiResourceType': '${a}' }");
    a_call: gives("{ 'fn::invoke': { function: ledger:lookup, arguments: { id: nobody } } }");
    a_call_for_one_member: gives("{ 'fn::invoke': { function: 'ledger:index:lookup', arguments: { id: nobody }, return: found } }");
    a_short_call: gives("{ 'fn::ledger:lookup': { id: nobody } }");
    a_call_in_another_case: gives("{ 'FN::Invoke': { Function: 'ledger:Index:Lookup', arguments: { id: nobody } } }");
    calls_inside_of_calls: gives("{ 'fn::join': ['', [{ 'fn::toBase64': { 'fn::toJSON': ['${list[0]}'] } }]] }");
    join_of_numbers: fails("{ 'fn::join': ['-', [1, 2]] }");
    select_out_of_bounds: fails("{ 'fn::select': [7, '${list}'] }");
    select_out_of_the_bounds_of_an_output: fails("{ 'fn::select': [7, '${a.value.list}'] }");
    select_half_an_element: fails("{ 'fn::select': [0.5, '${list}'] }");
    base64_that_is_none: fails("{ 'fn::fromBase64': '*' }");
    base64_of_no_text: fails("{ 'fn::fromBase64': '/w==' }");
    single_of_two: fails("{ 'fn::singleOrNone': [1, 2] }");
    length_of_a_number: fails("{ 'fn::length': 5 }");
    the_name_of_no_resource: fails("{ 'fn::pulumiResourceName': x }");
    a_call_that_fails: fails("{ 'fn::invoke': { function: ledger:lookup, arguments: { id: x, fail: true } } }");
    a_call_that_there_is_not: fails("{ 'fn::invoke': { function: ledger:lookdown } }");
    a_member_that_a_call_does_not_give: fails("{ 'fn::invoke': { function: ledger:lookup, arguments: { id: x }, return: nothing } }");
    a_failed_call_in_a_variable: yaml("variables:
  v: { 'fn::invoke': { function: ledger:lookup, arguments: { id: x, fail: true } } }
resources:
  a: { type: ledger:Item }
  b: { type: ledger:Item, properties: { value: '${v.found}' } }
  c: { type: ledger:Item }
").up_fails();
    assets_and_archives: yaml("resources:
  a: { type: ledger:Item, properties: { value: { 'fn::fileAsset': ./file.txt } } }
  b: { type: ledger:Item, properties: { value: { 'fn::assetArchive': { one: { 'fn::stringAsset': '${pulumi.stack}' }, two: { 'fn::fileArchive': ./folder } } } } }
  c: { type: ledger:Item, properties: { value: [{ 'fn::fileArchive': folder }] } }
").file("file.txt", &"1").file("folder/inner.txt", &"2").preview().up();
    a_remote_asset: gives("{ 'fn::remoteAsset': 'file:///dev/null' }");
    a_remote_archive_that_is_not_there: fails("{ 'fn::remoteArchive': 'file:///nowhere.zip' }");
    a_function_of_a_function: gives("{ 'fn::join': ['-', { 'fn::split': [',', { 'fn::select': [1, ['a,b', 'c,d']] }] }] }");
}
