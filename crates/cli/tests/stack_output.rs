//! The outputs of stacks, for people, shells and programs.

mod harness;

use harness::Sandbox;
use serde_json::{Value, json};

/// A sandbox whose stack `dev` has outputs of every kind. The secret is one that nobody can open.
fn with_outputs() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "dev"]);
    let path = sandbox.state().join(".pulumi/stacks/shop/dev.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    let secret = json!({
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        "ciphertext": "v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA==",
    });
    document["checkpoint"]["latest"]["resources"] = json!([{
        "urn": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
        "custom": false,
        "type": "pulumi:pulumi:Stack",
        "outputs": {
            "url": "https://shop.example",
            "count": 9_007_199_254_740_993_u64,
            "list": [1, "x<y"],
            "password": secret,
            "deep": { "inside": secret },
            "quote": "it's $HOME",
            "lines": "a\nb",
            "nothing": null,
        },
    }]);
    std::fs::write(path, document.to_string()).expect("a file");
    sandbox
}

#[test]
fn outputs_are_printed_for_people_shells_and_programs() {
    let sandbox = with_outputs();
    insta::assert_snapshot!(sandbox.ok(&["stack", "output"]), @r#"
    count     9007199254740993
    deep      {"inside":"[secret]"}
    lines     a
              b
    list      [1,"x<y"]
    nothing   null
    password  [secret]
    quote     it's $HOME
    url       https://shop.example
    "#);
    insta::assert_snapshot!(sandbox.ok(&["stack", "output", "--shell"]), @r#"
    count=9007199254740993
    deep=\{\"inside\":\"\[secret]\"}
    lines='a
    b'
    list=\[1,\"x\<y\"]
    nothing=null
    password=\[secret]
    quote='it'\''s $HOME'
    url=https://shop.example
    "#);
    insta::assert_snapshot!(sandbox.ok(&["stack", "output", "--json"]), @r#"
    {
      "count": 9007199254740993,
      "deep": {
        "inside": "[secret]"
      },
      "lines": "a\nb",
      "list": [
        1,
        "x<y"
      ],
      "nothing": null,
      "password": "[secret]",
      "quote": "it's $HOME",
      "url": "https://shop.example"
    }
    "#);
    assert_eq!(sandbox.ok(&["stack", "output", "url"]), "https://shop.example\n");
    assert_eq!(sandbox.ok(&["stack", "output", "url", "--json"]), "\"https://shop.example\"\n");
    assert_eq!(sandbox.ok(&["stack", "output", "quote", "--shell"]), "quote='it'\\''s $HOME'\n");
    assert_eq!(sandbox.ok(&["stack", "output", "count"]), "9007199254740993\n", "S10");
}

#[test]
fn s17_secrets_are_masked_and_need_no_passphrase() {
    let mut sandbox = with_outputs();
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "wrong");
    assert_eq!(sandbox.ok(&["stack", "output", "password"]), "[secret]\n");
    let json: Value = serde_json::from_str(&sandbox.ok(&["stack", "output", "--json"])).expect("JSON");
    assert_eq!(json["deep"], json!({ "inside": "[secret]" }));
    assert!(!sandbox.ok(&["stack", "--output", "json"]).contains("AAAA"));
    assert!(!sandbox.ok(&["stack"]).contains("AAAA"));
    for arguments in [&["stack", "output", "--show-secrets"][..], &["stack", "--show-secrets"]] {
        let ended = sandbox.drystone(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (3, ""), "{ended:#?}");
        assert!(ended.stderr.contains("incorrect passphrase"), "{ended:#?}");
        assert!(!ended.stderr.contains("AAAA"), "{ended:#?}");
    }
}

#[test]
fn an_output_that_is_not_there_is_refused() {
    let sandbox = with_outputs();
    let ended = sandbox.drystone(&["stack", "output", "nope"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("current stack does not have output property 'nope'"), "{ended:#?}");
    assert!(ended.stderr.contains("hint: it has count, deep"), "{ended:#?}");
    assert_eq!(sandbox.drystone(&["stack", "output", "--json", "--shell"]).code, 2);
    assert_eq!(sandbox.drystone(&["stack", "output", "--stack", "nope"]).code, 6);
}

#[test]
fn a_stack_without_outputs_prints_none() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["stack", "init", "dev"]);
    assert_eq!(sandbox.ok(&["stack", "output", "--json"]), "{}\n");
    assert_eq!(sandbox.ok(&["stack", "output", "--shell"]), "");
    let ended = sandbox.drystone(&["stack", "output"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (0, "", "shop/dev has no outputs\n")
    );
}
