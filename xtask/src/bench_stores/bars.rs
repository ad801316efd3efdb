//! What the results say against the bars.

use super::medium::Store;
use super::table::{Cell, Table};
use crate::bench_up::{Engine, Shape, Step};
use std::fmt::Write;

/// What grows in step grows fourfold from 500 to 2,000, and a tenth more for what it begins with.
const IN_STEP: f64 = 4.4;
/// The most requests of an update that are none for a group of entries: to open, to close, and checkpoints on the way.
const CONSTANT: f64 = 60.0;
/// The most that a change to one resource sends before its snapshot.
const SMALL: f64 = 64.0;

const SHAPES: [Shape; 3] = [Shape::Flat, Shape::Chain, Shape::Big];
const STEPS: [Step; 3] = [Step::Up, Step::Unchanged, Step::Destroy];

/// What a figure is held to.
enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

struct Bars {
    text: String,
}

impl Bars {
    fn hold(&mut self, name: &str, value: f64, bar: &Bar, unit: &str) {
        let (holds, words, bound) = match *bar {
            Bar::AtMost(most) => (value <= most, "at most", most),
            Bar::AtLeast(least) => (value >= least, "at least", least),
        };
        let verdict = if holds { "holds" } else { "MISSED" };
        let _ = writeln!(self.text, "{name:<66} {value:>8.2}{unit} of {words} {bound}{unit}: {verdict}");
    }
}

impl Table {
    pub(super) fn bars(&self) -> String {
        let mut bars = Bars { text: "\nbars\n".to_owned() };
        for store in Store::ALL {
            self.growth(store, &mut bars);
            self.beside_stock(store, &mut bars);
            self.requests(store, &mut bars);
        }
        for change in &self.changes {
            let name = format!("{}: sent for one change of {}", change.store.name(), change.resources);
            bars.hold(&name, change.before as f64 / 1e3, &Bar::AtMost(SMALL), " KB");
        }
        for slow in &self.slow {
            let name = format!(
                "{}: {} resources of {} ms, {} ms a request, to without",
                slow.store.name(),
                slow.resources,
                slow.creation.as_millis(),
                slow.by.as_millis()
            );
            bars.hold(&name, slow.with.as_secs_f64() / slow.without.as_secs_f64(), &Bar::AtMost(3.0), "");
        }
        for list in &self.lists {
            let name = format!("{}: `stack ls` of {}", list.store.name(), list.stacks);
            bars.hold(&name, list.wall.as_secs_f64(), &Bar::AtMost(2.0), " s");
        }
        bars.text
    }

    /// How bytes and requests grow from 500 to 2,000.
    fn growth(&self, store: Store, bars: &mut Bars) {
        let figures: [(&str, fn(&Cell) -> u64); 2] =
            [("bytes", Cell::bytes), ("requests", |cell| cell.traffic.requests)];
        for (shape, step) in SHAPES.into_iter().flat_map(|shape| STEPS.map(|step| (shape, step))) {
            let at = |size| self.find(store, shape, size, step, Engine::Ours);
            let (Some(small), Some(large)) = (at(500), at(2000)) else { continue };
            for (what, of) in figures {
                let name = format!(
                    "{}: {what} of {} from 500 to 2,000, {}",
                    store.name(),
                    step.name(),
                    shape.name()
                );
                bars.hold(&name, of(large) as f64 / of(small) as f64, &Bar::AtMost(IN_STEP), "");
            }
        }
    }

    /// How many times quicker than the stock CLI.
    fn beside_stock(&self, store: Store, bars: &mut Bars) {
        for (size, least) in [(500, 10.0), (1000, 20.0)] {
            for (shape, step) in SHAPES.into_iter().flat_map(|shape| STEPS.map(|step| (shape, step))) {
                let wall = |engine| {
                    let cell = self.find(store, shape, size, step, engine)?;
                    Some(cell.cost.wall.as_secs_f64())
                };
                let (Some(ours), Some(stock)) = (wall(Engine::Ours), wall(Engine::Stock)) else { continue };
                let name = format!(
                    "{}: times quicker than stock, {} of {size}, {}",
                    store.name(),
                    step.name(),
                    shape.name()
                );
                bars.hold(&name, stock / ours, &Bar::AtLeast(least), "");
            }
        }
    }

    /// The most requests beside those for groups of entries.
    fn requests(&self, store: Store, bars: &mut Bars) {
        let ours = self.cells.iter().filter(|cell| (cell.store, cell.engine) == (store, Engine::Ours));
        if let Some(most) = ours.max_by_key(|cell| cell.others()) {
            let name = format!(
                "{}: requests beside one a group, most ({} of {}, {})",
                store.name(),
                most.step.name(),
                most.size,
                most.shape.name()
            );
            bars.hold(&name, most.others() as f64, &Bar::AtMost(CONSTANT), "");
        }
    }
}
