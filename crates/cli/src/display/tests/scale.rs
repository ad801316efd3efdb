//! Many resources and large values.

use super::script::*;
use crate::display::opening::Mode;
use drystone_engine::{Event, Op, PropertyMap};
use drystone_model::Value;
use std::time::{Duration, Instant};

fn many(count: usize) -> Script {
    let mut script = Script::default();
    let mut parents = Vec::new();
    for number in 0..count {
        let name = format!("resource-{number:05}");
        let this = urn("a:b:Thing", &name);
        let inputs = properties([("value", Value::from(name.as_str()))]);
        let mut made = state(&this, inputs);
        if number % 10 != 0
            && let Some(parent) = parents.last()
        {
            made = under(parent, made);
        } else {
            parents.push(this);
        }
        let one = step(Op::Create, None, Some(made));
        script = script.begin(&one).wait(1).end(&one, 1);
    }
    script.finish(true, [(Op::Create, count)])
}

/// Generous bounds: what is held is that nothing grows with the square of the resources.
#[test]
fn five_thousand_resources_are_shown_in_no_time() {
    let script = many(5_000);
    for mode in [Mode::Plain, Mode::Events, Mode::Digest, Mode::Live] {
        let began = Instant::now();
        let text = Stage::new(mode).preview().play(script.clone());
        let took = began.elapsed();
        println!("{mode:?}: 5,000 resources in {took:?}, {} bytes", text.len());
        assert!(took < Duration::from_secs(10), "{mode:?} took {took:?}");
        assert!(text.contains("resource-04999"));
    }
}

#[test]
fn a_frame_of_a_large_tree_fits_between_two_frames() {
    let written = Written::default();
    let (mut renderer, closing) = Stage::new(Mode::Live).renderer(&written);
    renderer.open(0);
    for (_, event) in many(5_000).events {
        if !matches!(event, Event::Summary(_)) {
            renderer.event(event, 0, Duration::ZERO);
        }
    }
    let began = Instant::now();
    for second in 1..=10 {
        renderer.tick(Duration::from_secs(second));
    }
    let frame = began.elapsed() / 10;
    println!("a frame of 5,000 resources takes {frame:?}");
    assert!(frame < Duration::from_millis(500), "{frame:?}");
    renderer.close(&closing, 0, Duration::from_secs(10));
}

#[test]
fn a_chain_of_five_thousand_parents_ends() {
    let mut script = Script::default();
    let mut parent = stack();
    for number in 0..5_000 {
        let this = urn("a:b:Thing", &format!("c{number}"));
        script =
            script.run(&step(Op::Create, None, Some(under(&parent, state(&this, PropertyMap::new())))), 0);
        parent = this;
    }
    let began = Instant::now();
    let text = Stage::new(Mode::Live).size(200, 30).play(script.finish(true, [(Op::Create, 5_000)]));
    println!("a chain of 5,000 in {:?}", began.elapsed());
    assert!(text.contains("c4999 ") && text.len() < 4_000_000, "{} bytes", text.len());
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_value_of_fifty_megabytes_holds_nobody_up() {
    let large = |letter: &str| properties([("body", Value::from(letter.repeat(50 << 20)))]);
    let lines = |letter: &str| properties([("body", Value::from(format!("{letter}\n").repeat(5 << 20)))]);
    for (old, new) in [(large("a"), large("b")), (lines("a"), lines("b"))] {
        let changed = update(&urn("a:b:C", "c"), old, new);
        let began = Instant::now();
        let text = Stage::new(Mode::Plain).diff().play(Script::default().run(&changed, 1000));
        assert!(text.len() < 2_000, "{} bytes", text.len());
        println!("a value of 50 MB in {:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_secs(20));
    }
    let none = Stage::new(Mode::Plain)
        .play(Script::default().run(&create(&urn("a:b:C", "c"), PropertyMap::new()), 1));
    assert!(none.contains("created"));
}
