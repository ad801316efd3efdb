//! Resources that get another name, type or parent and stay what they are.

use crate::harness::{Stack, TestProvider, program};
use drystone_engine::{Alias, AliasParent, Op, Program};
use drystone_model::Urn;
use std::sync::Arc;

const A: &str = "urn:pulumi:dev::shop::pkgA:m:T::a";

/// An alias that differs in its name, its type, or both.
fn spec(name: &str, type_token: &str) -> Alias {
    under(name, type_token, AliasParent::Unchanged)
}

fn under(name: &str, type_token: &str, parent: AliasParent) -> Alias {
    Alias::Spec {
        name: name.to_owned(),
        type_token: type_token.to_owned(),
        stack: String::new(),
        project: String::new(),
        parent,
    }
}

/// A program with one resource.
fn one(type_token: &'static str, name: &'static str, aliases: Vec<Alias>) -> Arc<dyn Program> {
    program(move |p| {
        let aliases = aliases.clone();
        async move {
            let resource = p.resource(type_token, name).input("size", 1);
            resource.options(|options| options.aliases = aliases).register().await?;
            Ok(())
        }
    })
}

/// A stack with the resource `a`, its calls forgotten.
fn with_a() -> Stack {
    let mut stack = Stack::new();
    stack.up(one("pkgA:m:T", "a", Vec::new())).ok();
    stack.calls("pkgA");
    stack
}

#[test]
fn an_alias_by_urn_keeps_the_resource_under_its_new_name() {
    let mut stack = with_a();
    let outcome = stack.up(one("pkgA:m:T", "b", vec![Alias::Urn(Urn::new(A))])).ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert_eq!(
        (stack.names(), stack.resource("b").id.as_str()),
        (vec!["shop-dev".into(), "b".into()], "a-1")
    );
}

#[test]
fn an_alias_by_name_keeps_the_resource() {
    let mut stack = with_a();
    stack.up(one("pkgA:m:T", "b", vec![spec("a", "")])).ok();
    assert_eq!((stack.effects("pkgA").len(), stack.resource("b").id.as_str()), (0, "a-1"));
}

#[test]
fn an_alias_by_type_keeps_the_resource() {
    let mut stack = with_a();
    stack.up(one("pkgA:m:Better", "a", vec![spec("", "pkgA:m:T")])).ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert_eq!(stack.resource("a").type_token, "pkgA:m:Better");
}

#[test]
fn an_alias_by_stack_and_project_keeps_the_resource() {
    let mut stack = with_a();
    for resource in &mut stack.snapshot.resources {
        let moved = resource.urn.as_str().replace("dev::shop", "old::store");
        resource.urn = Urn::new(moved);
        resource.provider = resource.provider.replace("dev::shop", "old::store");
    }
    let alias = Alias::Spec {
        name: String::new(),
        type_token: String::new(),
        stack: "old".to_owned(),
        project: "store".to_owned(),
        parent: AliasParent::Unchanged,
    };
    stack.up(one("pkgA:m:T", "a", vec![alias])).ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert_eq!((stack.urn("a").as_str(), stack.resource("a").id.as_str()), (A, "a-1"));
}

#[test]
fn the_first_alias_that_names_something_counts() {
    let mut stack = with_a();
    stack.up(one("pkgA:m:T", "c", vec![spec("nothing", ""), spec("a", ""), spec("b", "")])).ok();
    assert_eq!(stack.resource("c").id, "a-1");
}

#[test]
fn an_alias_that_names_nothing_makes_the_resource() {
    let mut stack = Stack::new();
    let outcome = stack.up(one("pkgA:m:T", "b", vec![spec("a", "")])).ok();
    assert_eq!(outcome.steps(), ["create b"]);
}

#[test]
fn an_alias_that_stays_in_the_program_does_no_harm() {
    let mut stack = with_a();
    stack.up(one("pkgA:m:T", "b", vec![spec("a", "")])).ok();
    let outcome = stack.up(one("pkgA:m:T", "b", vec![spec("a", "")])).ok();
    assert_eq!((outcome.entries, stack.resource("b").aliases.len()), (0, 0));
}

#[test]
fn its_own_name_counts_before_any_alias() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            for name in ["a", "b"] {
                p.resource("pkgA:m:T", name).input("size", 1).register().await?;
            }
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    stack.up(one("pkgA:m:T", "b", vec![spec("a", "")])).ok();
    assert_eq!(stack.effects("pkgA"), ["delete a"]);
    assert_eq!(stack.resource("b").id, "b-2");
}

#[test]
fn a_renamed_resource_is_updated_under_its_new_name() {
    let mut stack = with_a();
    let outcome = stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "b").input("size", 2).alias(A).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(outcome.steps(), ["update b"]);
    assert_eq!(stack.calls("pkgA").iter().filter(|call| call.method == "update").count(), 1);
    assert_eq!(stack.resource("b").inputs.text(), r#"{"size":2}"#);
}

#[test]
fn a_renamed_resource_is_replaced_under_its_new_name() {
    let mut stack = Stack::with_provider("pkgA", TestProvider::replacing_on(["size"]));
    stack.up(one("pkgA:m:T", "a", Vec::new())).ok();
    stack.calls("pkgA");
    stack
        .up(program(|p| async move {
            p.resource("pkgA:m:T", "b").input("size", 2).alias(A).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), ["create b", "delete a"]);
    assert_eq!((stack.names().len(), stack.resource("b").id.as_str()), (2, "b-2"));
}

#[test]
fn a_preview_of_a_rename_shows_no_change() {
    let mut stack = with_a();
    let outcome = stack.preview(one("pkgA:m:T", "b", vec![spec("a", "")])).ok();
    assert_eq!((outcome.steps().len(), outcome.count(Op::Same)), (0, 2));
}

#[test]
fn two_resources_cannot_have_been_the_same_one() {
    let mut stack = with_a();
    let outcome = stack.up(program(|p| async move {
        p.resource("pkgA:m:T", "b").input("size", 1).alias(A).register().await?;
        p.resource("pkgA:m:T", "c").input("size", 1).alias(A).register().await?;
        Ok(())
    }));
    outcome
        .failed("Duplicate resource alias 'urn:pulumi:dev::shop::pkgA:m:T::a' applied to resource with URN");
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
}

#[test]
fn a_name_that_another_resource_had_cannot_be_used_in_the_same_run() {
    let mut stack = with_a();
    let outcome = stack.up(program(|p| async move {
        p.resource("pkgA:m:T", "b").input("size", 1).alias(A).register().await?;
        p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
        Ok(())
    }));
    outcome.failed("conflicting with alias on resource with URN 'urn:pulumi:dev::shop::pkgA:m:T::b'");
}

#[test]
fn an_alias_to_a_resource_that_the_program_still_has_is_refused() {
    let mut stack = with_a();
    let outcome = stack.up(program(|p| async move {
        p.resource("pkgA:m:T", "a").input("size", 1).register().await?;
        p.resource("pkgA:m:T", "b").input("size", 1).alias(A).register().await?;
        Ok(())
    }));
    outcome.failed("Duplicate resource alias");
    assert_eq!(stack.names(), ["shop-dev", "a"]);
}

#[test]
fn children_follow_a_parent_that_is_renamed() {
    let family = |parent: &'static str, alias: Option<&'static str>| {
        program(move |p| async move {
            let mut top = p.component("my:index:Top", parent);
            if let Some(alias) = alias {
                top = top.alias(alias);
            }
            let top = top.register().await?;
            let child = p.resource("pkgA:m:T", "child").parent(&top.urn).register().await?;
            p.resource("pkgA:m:T", "grandchild").parent(&child.urn).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(family("top", None)).ok();
    stack.calls("pkgA");
    stack.up(family("new", Some("urn:pulumi:dev::shop::my:index:Top::top"))).ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert_eq!(stack.names(), ["shop-dev", "new", "child", "grandchild"]);
    assert_eq!(stack.resource("child").parent.name(), "new");
}

#[test]
fn children_that_are_named_after_their_parent_follow_too() {
    let family = |parent: &'static str, aliases: Vec<Alias>| {
        program(move |p| {
            let aliases = aliases.clone();
            async move {
                let top = p.component("my:index:Top", parent).options(|options| options.aliases = aliases);
                let top = top.register().await?;
                let name = format!("{parent}-disk");
                let disk = p.resource("pkgA:m:T", &name).parent(&top.urn).register().await?;
                p.resource("pkgA:m:T", &format!("{name}-key")).parent(&disk.urn).register().await?;
                Ok(())
            }
        })
    };
    let mut stack = Stack::new();
    stack.up(family("app", Vec::new())).ok();
    stack.calls("pkgA");
    stack.up(family("newapp", vec![spec("app", "")])).ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert_eq!(stack.names(), ["shop-dev", "newapp", "newapp-disk", "newapp-disk-key"]);
}

#[test]
fn children_follow_a_parent_whose_type_changes_while_they_are_renamed_themselves() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let top = p.component("my:index:Top", "top").register().await?;
            p.resource("pkgA:m:T", "child").parent(&top.urn).register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    stack
        .up(program(|p| async move {
            let top = p.component("my:index:Better", "top");
            let top =
                top.options(|options| options.aliases = vec![spec("", "my:index:Top")]).register().await?;
            let child = p.resource("pkgA:m:T", "renamed").parent(&top.urn);
            child.options(|options| options.aliases = vec![spec("child", "")]).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!((stack.effects("pkgA").len(), stack.names().len()), (0, 3));
    assert_eq!(stack.urn("renamed").qualified_type(), "my:index:Better$pkgA:m:T");
}

#[test]
fn a_resource_that_moves_under_a_parent_says_that_it_had_none() {
    let mut stack = with_a();
    stack
        .up(program(|p| async move {
            let top = p.component("my:index:Top", "top").register().await?;
            let a = p.resource("pkgA:m:T", "a").input("size", 1).parent(&top.urn);
            a.options(|options| options.aliases = vec![under("", "", AliasParent::Root)]).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), [] as [&str; 0]);
    assert_eq!(stack.urn("a").qualified_type(), "my:index:Top$pkgA:m:T");
}

#[test]
fn a_resource_that_changes_its_parent_names_the_old_one_even_if_that_moved_too() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.component("my:index:Top", "first").register().await?;
            let second = p.component("my:index:Top", "second").register().await?;
            p.resource("pkgA:m:T", "c").parent(&second.urn).register().await?;
            Ok(())
        }))
        .ok();
    stack.calls("pkgA");
    stack
        .up(program(|p| async move {
            let first = p.component("my:index:Top", "first").register().await?;
            let second = p.component("my:index:Top", "second").parent(&first.urn);
            let second = second.options(|options| options.aliases = vec![under("", "", AliasParent::Root)]);
            let second = second.register().await?;
            let alias = under("", "", AliasParent::Urn(second.urn.clone()));
            let c = p.resource("pkgA:m:T", "c").parent(&first.urn);
            c.options(|options| options.aliases = vec![alias]).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!((stack.effects("pkgA").len(), stack.names().len()), (0, 4));
}

#[test]
fn every_reference_to_a_renamed_resource_is_settled() {
    let run = |name: &'static str, alias: &'static [&'static str]| {
        program(move |p| async move {
            let mut a = p.resource("pkgA:m:T", name).input("size", 1);
            for urn in alias {
                a = a.alias(urn);
            }
            let a = a.register().await?;
            let b = p.resource("pkgA:m:T", "b").input_from("from", &a, "size");
            b.options(|options| options.deleted_with = a.urn.clone()).register().await?;
            Ok(())
        })
    };
    let mut stack = Stack::new();
    stack.up(run("a", &[])).ok();
    // The program fails before it comes to `b`, whose state must follow all the same.
    let outcome = stack.up(program(|p| async move {
        p.resource("pkgA:m:T", "new").input("size", 1).alias(A).register().await?;
        Err(drystone_engine::MonitorError::new("something went bang"))
    }));
    outcome.failed("something went bang");
    let (new, b) = (stack.urn("new"), stack.resource("b"));
    assert_eq!((&b.dependencies, &b.deleted_with), (&vec![new.clone()], &new));
    assert_eq!(b.property_dependencies["from"], Some(vec![new]));
    let outcome = stack.up(run("new", &[])).ok();
    assert_eq!(outcome.steps(), [] as [&str; 0]);
}

#[test]
fn a_child_that_was_not_registered_gets_the_name_that_its_moved_parent_gives_it() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").register().await?;
            let b = p.component("my:index:B", "b").parent(&a.urn).register().await?;
            p.resource("pkgA:m:T", "c").parent(&b.urn).register().await?;
            Ok(())
        }))
        .ok();
    let moved = "urn:pulumi:dev::shop::pkgA:m:T$my:index:B::b";
    let outcome = stack.up(program(move |p| async move {
        p.component("my:index:B", "b").alias(moved).register().await?;
        Err(drystone_engine::MonitorError::new("something went bang"))
    }));
    outcome.failed("something went bang");
    assert_eq!(stack.urn("c").as_str(), "urn:pulumi:dev::shop::my:index:B$pkgA:m:T::c");
    stack.calls("pkgA");
    stack
        .up(program(move |p| async move {
            let b = p.component("my:index:B", "b").alias(moved).register().await?;
            p.resource("pkgA:m:T", "c").parent(&b.urn).register().await?;
            Ok(())
        }))
        .ok();
    assert_eq!(stack.effects("pkgA"), ["delete a"]);
    assert_eq!(stack.names(), ["shop-dev", "b", "c"]);
}

#[test]
fn a_rename_that_is_taken_back_makes_a_new_resource_and_deletes_the_old() {
    let mut stack = with_a();
    stack.up(one("pkgA:m:T", "b", vec![spec("a", "")])).ok();
    stack.providers.get_mut("pkgA").unwrap().delete =
        Some(Arc::new(|_| Err(drystone_engine::ProviderError::unknown("can't delete"))));
    for _ in 0..2 {
        stack.up(one("pkgA:m:T", "a", Vec::new())).failed("can't delete");
        assert_eq!(stack.names(), ["shop-dev", "a", "b"]);
    }
}

#[test]
fn a_component_becomes_a_custom_resource_and_back() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            p.component("my:index:Kind", "a").input("foo", "bar").register().await?;
            Ok(())
        }))
        .ok();
    stack
        .up(program(|p| async move {
            let a = p.resource("pkgA:m:T", "a").input("foo", "bar");
            a.options(|options| options.aliases = vec![spec("", "my:index:Kind")]).register().await?;
            Ok(())
        }))
        .ok();
    assert!(stack.resource("a").custom);
    assert_eq!(stack.providers["pkgA"].ids(), ["a-1"]);
    stack
        .up(program(|p| async move {
            let a = p.component("my:index:Kind", "a").input("foo", "bar");
            a.options(|options| options.aliases = vec![spec("", "pkgA:m:T")]).register().await?;
            Ok(())
        }))
        .ok();
    assert!(!stack.resource("a").custom);
    assert_eq!((stack.providers["pkgA"].ids().len(), stack.snapshot.resources.len()), (0, 2));
}

#[test]
fn a_renamed_resource_can_be_destroyed() {
    let mut stack = with_a();
    stack.up(one("pkgA:m:T", "b", vec![spec("a", "")])).ok();
    stack.destroy().ok();
    assert_eq!(stack.effects("pkgA"), ["delete b"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn the_provider_of_a_resource_follows_a_rename_that_the_program_died_after() {
    let mut stack = Stack::new();
    stack
        .up(program(|p| async move {
            let own = p.resource("pulumi:providers:pkgA", "own").register().await?;
            p.resource("pkgA:m:T", "a").provider(&own).register().await?;
            Ok(())
        }))
        .ok();
    let outcome = stack.up(program(|p| async move {
        let own = p.resource("pulumi:providers:pkgA", "new");
        own.alias("urn:pulumi:dev::shop::pulumi:providers:pkgA::own").register().await?;
        Err(drystone_engine::MonitorError::new("something went bang"))
    }));
    outcome.failed("something went bang");
    assert!(stack.resource("a").provider.contains("::new::"));
}

#[test]
fn what_is_read_under_a_renamed_parent_is_not_there_twice() {
    let run = |kind: &'static str, aliases: Vec<Alias>| {
        program(move |p| {
            let aliases = aliases.clone();
            async move {
                let top = p.component(kind, "top").options(|options| options.aliases = aliases);
                let top = top.register().await?;
                let read = drystone_engine::ReadRequest {
                    type_token: "pkgA:m:T".to_owned(),
                    name: "seen".to_owned(),
                    id: "x".to_owned(),
                    parent: top.urn,
                    ..Default::default()
                };
                p.monitor.read(read).await.map(|_| ())
            }
        })
    };
    let mut stack = Stack::new();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("x".to_owned(), Default::default());
    stack.up(run("my:index:Top", Vec::new())).ok();
    stack.up(run("my:index:Better", vec![spec("", "my:index:Top")])).ok();
    assert_eq!(stack.names(), ["shop-dev", "top", "seen"]);
    assert_eq!(stack.resource("seen").parent, stack.urn("top"));
}
