//! Revisions: listing, comparing, going back, pruning; and the records of updates beside them.

mod harness;
mod made_stack;

use harness::{Sandbox, deployment};
use made_stack::{everything, exported, import, sandbox, with_open_secret, with_pet};
use serde_json::Value;

/// A stack with three imports: the sample, with the pet `c`, with the pet `d` in its place.
fn three() -> Sandbox {
    let sandbox = sandbox();
    import(&sandbox, &deployment());
    import(&sandbox, &with_pet("c"));
    import(&sandbox, &with_pet("d"));
    sandbox
}

fn revisions(sandbox: &Sandbox) -> Vec<Value> {
    serde_json::from_str(&sandbox.ok(&["stack", "revisions", "-s", "dev", "--json"])).expect("JSON")
}

/// The names of the resources.
fn names(sandbox: &Sandbox) -> Vec<String> {
    let resources = exported(sandbox)["deployment"]["resources"].as_array().cloned().unwrap_or_default();
    let urns = resources.iter().filter_map(|resource| resource["urn"].as_str());
    urns.filter_map(|urn| urn.rsplit("::").next()).map(str::to_owned).collect()
}

#[test]
fn revisions_are_listed_newest_first_with_the_current_one_marked() {
    let sandbox = three();
    let listed = revisions(&sandbox);
    let numbers: Vec<i64> = listed.iter().map(|revision| revision["number"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [4, 3, 2, 1]);
    let current: Vec<bool> = listed.iter().map(|revision| revision["current"].as_bool().unwrap()).collect();
    assert_eq!(current, [true, false, false, false]);
    assert_eq!(listed[0]["command"], "stack import");
    assert_eq!(listed[0]["message"], "5 resources from standard input");
    assert_eq!((&listed[0]["parent"], &listed[0]["sound"]), (&3.into(), &true.into()));
    assert_eq!(listed[3]["command"], "found: written by another tool");
    let text = sandbox.ok(&["stack", "revisions", "-s", "dev"]);
    assert!(text.lines().nth(1).unwrap().starts_with("*  4 "), "{text}");
    assert!(text.contains("stack import"), "{text}");
}

#[test]
fn a_diff_tells_what_came_and_went() {
    let sandbox = three();
    let diff = sandbox.drystone(&["stack", "diff", "@-", "-s", "dev"]);
    assert_eq!(diff.stdout, "- random:index:Pet c  c\n+ random:index:Pet d  d\n", "{diff:#?}");
    assert_eq!(diff.stderr, "1 added, 1 removed\n");
    assert_eq!(sandbox.ok(&["stack", "diff", "2", "3", "-s", "dev"]), "+ random:index:Pet c  c\n");
    assert_eq!(sandbox.drystone(&["stack", "diff", "2", "2", "-s", "dev"]).stderr, "no differences\n");
    let json: Value =
        serde_json::from_str(&sandbox.ok(&["stack", "diff", "2", "4", "--json", "-s", "dev"])).unwrap();
    assert_eq!((&json["before"], &json["after"]), (&2.into(), &4.into()));
    assert_eq!(json["resources"][0]["change"], "added");
}

#[test]
fn s17_a_diff_masks_secrets_unless_asked() {
    let sandbox = sandbox();
    import(&sandbox, &with_open_secret("hush-one"));
    import(&sandbox, &with_open_secret("hush-two"));
    for arguments in
        [&["stack", "diff", "@-", "-s", "dev"][..], &["stack", "diff", "@-", "-s", "dev", "--json"]]
    {
        let text = sandbox.ok(arguments);
        assert!(text.contains("[secret]") && !text.contains("hush") && !text.contains("v1:"), "{text}");
    }
    let text = sandbox.ok(&["stack", "diff", "@-", "-s", "dev", "--show-secrets"]);
    assert!(text.contains(r#"inputs.password: "hush-one" → "hush-two""#), "{text}");
}

#[test]
fn s06_a_rollback_is_a_new_revision_and_loses_nothing() {
    let sandbox = three();
    let ended = sandbox.drystone(&["stack", "rollback", "2", "-s", "dev", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.stderr.contains("- random:index:Pet d"), "{ended:#?}");
    assert!(ended.stderr.contains("What it describes in the cloud stays as it is"), "{ended:#?}");
    assert!(ended.stderr.contains("take it back: drystone stack rollback 4"), "{ended:#?}");
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b"]);
    let listed = revisions(&sandbox);
    assert_eq!((&listed[0]["number"], &listed[0]["restores"]), (&5.into(), &2.into()));
    assert_eq!(listed.len(), 5);
    sandbox.ok(&["stack", "rollback", "4", "-s", "dev", "--yes"]);
    assert_eq!(names(&sandbox).last().unwrap(), "d");
}

#[test]
fn a_rollback_that_nobody_confirms_changes_nothing() {
    let sandbox = three();
    let before = everything(&sandbox);
    let ended = sandbox.drystone(&["stack", "rollback", "2", "-s", "dev"]);
    assert_eq!(ended.code, 2, "{ended:#?}");
    assert!(ended.stderr.contains("hint: pass `--yes`"), "{ended:#?}");
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn undo_after_undo_goes_further_back() {
    let sandbox = three();
    sandbox.ok(&["stack", "undo", "-s", "dev"]);
    assert_eq!(names(&sandbox).last().unwrap(), "c");
    sandbox.ok(&["stack", "undo", "-s", "dev"]);
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b"]);
    sandbox.ok(&["stack", "undo", "-s", "dev"]);
    assert_eq!(names(&sandbox), [""; 0]);
    let nothing = sandbox.drystone(&["stack", "undo", "-s", "dev"]);
    assert_eq!(nothing.code, 1, "{nothing:#?}");
    assert!(nothing.stderr.contains("nothing to undo"), "{nothing:#?}");
}

#[test]
fn a_change_after_an_undo_is_undone_to_where_the_undo_led() {
    let sandbox = three();
    sandbox.ok(&["stack", "undo", "-s", "dev"]);
    import(&sandbox, &with_pet("e"));
    sandbox.ok(&["stack", "undo", "-s", "dev"]);
    assert_eq!(names(&sandbox).last().unwrap(), "c");
    sandbox.ok(&["stack", "undo", "-s", "dev"]);
    assert_eq!(names(&sandbox).last().unwrap(), "b");
}

#[test]
fn undo_takes_a_rollback_back() {
    let sandbox = three();
    sandbox.ok(&["stack", "rollback", "2", "-s", "dev", "--yes"]);
    sandbox.ok(&["stack", "undo", "-s", "dev"]);
    assert_eq!(names(&sandbox).last().unwrap(), "d");
}

#[test]
fn an_unsound_revision_is_not_brought_back_unless_told() {
    let sandbox = sandbox();
    let unsound = deployment().replace(
        "\"parent\":\"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev\"",
        "\"parent\":\"urn:pulumi:dev::shop::a:b:C::gone\"",
    );
    let forced = sandbox.drystone_with(&["stack", "import", "-s", "dev", "--force"], &unsound);
    assert_eq!(forced.code, 0, "{forced:#?}");
    import(&sandbox, &deployment());
    let refused = sandbox.drystone(&["stack", "undo", "-s", "dev"]);
    assert_eq!(refused.code, 11, "{refused:#?}");
    assert_eq!(names(&sandbox).len(), 4);
    sandbox.ok(&["stack", "undo", "-s", "dev", "--disable-integrity-checking"]);
    assert_eq!(revisions(&sandbox)[0]["sound"], false);
}

#[test]
fn names_that_mean_no_revision_are_explained() {
    let sandbox = three();
    let cases = [
        ("17", 1, "shop/dev has no revision 17"),
        ("-x", 2, ""),
        ("yesterday", 2, "`yesterday` names no revision"),
    ];
    for (name, code, message) in cases {
        let ended = sandbox.drystone(&["stack", "diff", name, "-s", "dev"]);
        assert_eq!(ended.code, code, "{ended:#?}");
        assert!(ended.stderr.contains(message), "{ended:#?}");
    }
}

#[test]
fn pruning_keeps_the_newest_and_the_current() {
    let sandbox = three();
    sandbox.ok(&["stack", "rollback", "2", "-s", "dev", "--yes"]);
    let asked = sandbox.drystone(&["stack", "prune", "--keep", "2", "-s", "dev"]);
    assert_eq!(asked.code, 2, "{asked:#?}");
    assert_eq!(revisions(&sandbox).len(), 5);
    let pruned = sandbox.drystone(&["stack", "prune", "--keep", "2", "-s", "dev", "--yes"]);
    assert_eq!(pruned.stderr, "Deleted 3 revision(s) of shop/dev, 2 left.\n", "{pruned:#?}");
    sandbox.ok(&["stack", "prune", "--keep", "0", "-s", "dev", "--yes"]);
    let left = revisions(&sandbox);
    assert_eq!((left.len(), &left[0]["number"], &left[0]["current"]), (1, &5.into(), &true.into()));
    assert_eq!(names(&sandbox), ["shop-dev", "default", "a", "b"]);
    let gone = sandbox.drystone(&["stack", "undo", "-s", "dev"]);
    assert_eq!(gone.code, 1, "{gone:#?}");
    assert!(gone.stderr.contains("has no revision 4"), "{gone:#?}");
}

#[test]
fn a_state_that_another_tool_wrote_can_be_undone() {
    let sandbox = three();
    let file = made_stack::state_file(&sandbox);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"id\":\"d\"", "\"id\":\"another\"")).unwrap();
    let listed = sandbox.drystone(&["stack", "revisions", "-s", "dev"]);
    assert!(listed.stderr.contains("written by another tool"), "{listed:#?}");
    assert_eq!(
        sandbox.ok(&["stack", "diff", "4", "-s", "dev"]),
        "~ random:index:Pet d\n    id: \"another\" → \"d\"\n"
            .replace("\"another\" → \"d\"", "\"d\" → \"another\"")
    );
    sandbox.ok(&["stack", "undo", "-s", "dev"]);
    assert!(sandbox.ok(&["stack", "export", "-s", "dev"]).contains("\"id\": \"d\""));
    assert!(sandbox.ok(&["stack", "revisions", "-s", "dev"]).contains("found: written by another tool"));
}

/// Writes a record of an update, as the stock CLI does.
fn record(sandbox: &Sandbox, moment: u64, text: &str) {
    let folder = sandbox.state().join(".pulumi/history/shop/dev");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(format!("dev-{moment}.history.json")), text).expect("a file");
}

#[test]
fn history_is_printed_in_the_stock_shape() {
    let sandbox = sandbox();
    assert_eq!(sandbox.ok(&["stack", "history", "-s", "dev", "--json"]), "[]\n");
    assert_eq!(sandbox.ok(&["stack", "history", "-s", "dev"]), "Stack has never been updated\n");
    let token = "v1:LdwPhlDsR2XCQTvB:SOCXStCV37cSHmU3JBqkb6qSjQ==";
    record(
        &sandbox,
        1,
        &format!(
            r#"{{"kind":"update","startTime":1700000000,"message":"first","environment":{{"b":"2","a":"1"}},"config":{{"shop:tok":{{"secure":"{token}"}},"shop:obj":{{"n":1}},"shop:plain":"5","shop:bad":{{"secure":"v1:x:y"}}}},"version":0,"result":"succeeded","endTime":1700000002,"resourceChanges":{{"create":2}}}}"#
        ),
    );
    record(
        &sandbox,
        2,
        r#"{"kind":"destroy","startTime":1700000010,"message":"","environment":null,"config":null,"version":0,"result":"in-progress","endTime":0}"#,
    );
    insta::assert_snapshot!(sandbox.ok(&["stack", "history", "-s", "dev", "--json"]), @r#"
    [
      {
        "version": 0,
        "kind": "destroy",
        "startTime": "2023-11-14T22:13:30.000Z",
        "message": "",
        "environment": null,
        "config": {},
        "result": "in-progress"
      },
      {
        "version": 0,
        "kind": "update",
        "startTime": "2023-11-14T22:13:20.000Z",
        "message": "first",
        "environment": {
          "a": "1",
          "b": "2"
        },
        "config": {
          "shop:bad": {
            "secret": true
          },
          "shop:obj": {
            "value": "{\"n\":1}",
            "objectValue": {
              "n": 1
            },
            "secret": false
          },
          "shop:plain": {
            "value": "5",
            "secret": false
          },
          "shop:tok": {
            "secret": true
          }
        },
        "result": "succeeded",
        "endTime": "2023-11-14T22:13:22.000Z",
        "resourceChanges": {
          "create": 2
        }
      }
    ]
    "#);
    let shown: Value =
        serde_json::from_str(&sandbox.ok(&["stack", "history", "-s", "dev", "--json", "--show-secrets"]))
            .unwrap();
    assert_eq!(shown[1]["config"]["shop:tok"]["value"], "abc");
    assert_eq!(shown[1]["config"]["shop:bad"]["value"], "ERROR_UNABLE_TO_DECRYPT");
    let page: Value = serde_json::from_str(&sandbox.ok(&[
        "stack",
        "history",
        "-s",
        "dev",
        "--json",
        "--page-size",
        "1",
        "--page",
        "2",
    ]))
    .unwrap();
    assert_eq!((page.as_array().unwrap().len(), &page[0]["kind"]), (1, &"update".into()));
    assert_eq!(
        sandbox.ok(&["stack", "history", "-s", "dev", "--page", "9"]),
        "No stack updates found on page '9'\n"
    );
    let text = sandbox.ok(&["stack", "history", "-s", "dev", "--full-dates"]);
    assert!(text.contains("Updated 2023-11-14T22:13:20Z took 2s"), "{text}");
}

#[test]
fn the_graph_is_written_as_dot() {
    let sandbox = sandbox();
    import(&sandbox, &deployment());
    let graph = sandbox.ok(&[
        "stack",
        "graph",
        "-",
        "--short-node-name",
        "--dot-fragment",
        "rankdir=LR",
        "-s",
        "dev",
    ]);
    insta::assert_snapshot!(graph, @r##"
    strict digraph {
    rankdir=LR
        Resource0 [label="default"];
        Resource1 [label="shop-dev"];
        Resource2 [label="a"];
        Resource2 -> Resource1 [color = "#AA6639"];
        Resource2 -> Resource3 [color = "#246C60", label = "prefix"];
        Resource3 [label="b"];
        Resource3 -> Resource1 [color = "#AA6639"];
    }
    "##);
    sandbox.ok(&[
        "stack",
        "graph",
        "graph.dot",
        "--ignore-parent-edges",
        "--ignore-dependency-edges",
        "-s",
        "dev",
    ]);
    assert!(!sandbox.read("graph.dot").contains("->"));
}

#[test]
fn s09_what_a_newer_version_wrote_is_not_replaced() {
    let sandbox = three();
    let file = made_stack::state_file(&sandbox);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"version\":3", "\"version\":99", 1)).unwrap();
    let before = everything(&sandbox);
    let commands: [&[&str]; 4] = [
        &["stack", "undo", "-s", "dev"],
        &["stack", "rollback", "2", "--yes", "-s", "dev"],
        &["stack", "import", "--force", "-s", "dev"],
        &["stack", "export", "-s", "dev"],
    ];
    for command in commands {
        let ended = sandbox.drystone_with(command, &deployment());
        assert_eq!(ended.code, 2, "{command:?} {ended:#?}");
        assert!(ended.stderr.contains("its version 99 is newer"), "{ended:#?}");
        assert!(ended.stderr.contains("hint: use the newer version that wrote it"), "{ended:#?}");
        assert_eq!(everything(&sandbox), before);
    }
    assert!(sandbox.ok(&["stack", "revisions", "-s", "dev"]).contains("stack import"));
    assert!(sandbox.ok(&["stack", "export", "--version", "4", "-s", "dev"]).contains("Pet::d"));
}

#[test]
fn a_state_from_before_a_renaming_is_not_brought_back_under_the_new_name() {
    let sandbox = sandbox();
    let old = deployment().replace("pulumi:dev::", "pulumi:old::");
    let forced = sandbox.drystone_with(&["stack", "import", "-s", "dev", "--force"], &old);
    assert_eq!(forced.code, 0, "{forced:#?}");
    import(&sandbox, &deployment());
    let refused = sandbox.drystone(&["stack", "undo", "-s", "dev"]);
    assert_eq!(refused.code, 1, "{refused:#?}");
    assert!(refused.stderr.contains("from when the stack was named shop/old"), "{refused:#?}");
    assert_eq!(names(&sandbox).len(), 4);
}
