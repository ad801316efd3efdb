//! The display as commands use it.

use super::script::*;
use crate::display::opening::Mode;
use crate::display::{Closing, Display, EventLog, EventStream};
use drystone_engine::{Event, Op, PropertyMap, Summary};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn events_of_many_threads_are_all_shown_before_the_end() {
    let written = Written::default();
    let (renderer, _) = Stage::new(Mode::Plain).renderer(&written);
    let display = Display::start(renderer).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let events = display.events();
            scope.spawn(move || {
                for number in 0..50 {
                    let step = create(&urn("a:b:C", &format!("{thread}-{number}")), PropertyMap::new());
                    events.send(Event::StepStarted(step.clone()));
                    let duration = std::time::Duration::from_millis(1);
                    events.send(Event::StepDone(drystone_engine::StepEvent { duration, ..step }));
                }
            });
        }
    });
    display.say("almost");
    display.close(Closing::default()).unwrap();
    let text = written.text();
    assert_eq!(text.matches("  created  ").count(), 400);
    assert!(text.starts_with("Updating shop/prod\n"));
    assert!(text.contains("\nalmost\n"));
    assert!(text.contains("400 changed (+ 400 created)"), "{text}");
}

#[test]
fn a_display_that_nobody_closes_still_ends() {
    let written = Written::default();
    let (renderer, _) = Stage::new(Mode::Plain).renderer(&written);
    let display = Display::start(renderer).unwrap();
    let events = display.events();
    events.send(Event::StepDone(create(&urn("a:b:C", "c"), PropertyMap::new())));
    drop(display);
    assert!(written.text().contains("1 changed (+ 1 created)"));
    events.send(Event::Summary(Summary::default()));
}

#[test]
fn a_tree_is_drawn_a_few_times_a_second_however_fast_events_come() {
    let written = Written::default();
    let (renderer, _) = Stage::new(Mode::Live).renderer(&written);
    let display = Display::start(renderer).unwrap();
    let events = display.events();
    let began = Instant::now();
    let mut sent = 0;
    while began.elapsed() < Duration::from_millis(550) {
        let step = create(&urn("a:b:C", &format!("c{sent}")), PropertyMap::new());
        events.send(Event::StepStarted(step));
        sent += 1;
        std::thread::sleep(Duration::from_millis(2));
    }
    display.close(Closing::default()).unwrap();
    let frames = written.text().matches("\x1b[?2026h").count();
    let most = usize::try_from(began.elapsed().as_millis() / 100).unwrap() + 2;
    assert!((2..=most).contains(&frames), "{frames} frames, {sent} events");
}

#[derive(Clone, Default)]
struct Remembered(Arc<Mutex<(Vec<String>, bool)>>);

impl EventStream for Remembered {
    fn send(&mut self, event: String) {
        self.0.lock().unwrap().0.push(event);
    }

    fn close(self: Box<Self>) {
        self.0.lock().unwrap().1 = true;
    }
}

#[test]
fn the_event_log_has_every_event_as_it_happens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events");
    std::fs::write(&path, "old").unwrap();
    let mut stage = Stage::new(Mode::Plain);
    stage.options.event_log = Some(EventLog::file(&path).unwrap());
    let written = Written::default();
    let (mut renderer, closing) = stage.renderer(&written);
    renderer.open(1);
    let lines = || std::fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(), [r#"{"sequence":0,"timestamp":1,"preludeEvent":{"config":{}}}"#]);
    renderer.event(Event::StepStarted(create(&urn("a:b:C", "c"), PropertyMap::new())), 2, Duration::ZERO);
    assert_eq!(lines().len(), 2);
    renderer.close(&closing, 3, Duration::ZERO);
    assert_eq!(lines()[2], r#"{"sequence":2,"timestamp":3,"cancelEvent":{}}"#);
    assert!(EventLog::file(&folder.path().join("no/such/folder")).is_err());
}

#[test]
fn a_stream_of_events_is_closed_at_the_end() {
    let remembered = Remembered::default();
    let mut stage = Stage::new(Mode::Live);
    stage.options.event_log = Some(EventLog::stream(Box::new(remembered.clone())));
    stage.play(Script::default().finish(true, [(Op::Same, 1)]));
    let (events, closed) = &*remembered.0.lock().unwrap();
    assert_eq!(events.len(), 3);
    assert!(events[2].contains("cancelEvent"));
    assert!(closed);
}
