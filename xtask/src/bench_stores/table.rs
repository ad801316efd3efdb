//! The results.

use super::medium::Store;
use crate::bench_up::{Cost, Engine, Shape, Step};
use drystone_servers::Traffic;
use std::fmt::Write;
use std::time::Duration;

/// One step of one stack.
pub(super) struct Cell {
    pub(super) store: Store,
    pub(super) shape: Shape,
    pub(super) size: usize,
    pub(super) step: Step,
    pub(super) engine: Engine,
    pub(super) cost: Cost,
    /// Whether it was ended before it was done: it would have cost more.
    pub(super) cut_off: bool,
    pub(super) traffic: Traffic,
    /// The requests that wrote journal entries.
    pub(super) groups: u64,
}

impl Cell {
    /// Bytes both ways.
    pub(super) fn bytes(&self) -> u64 {
        self.traffic.sent + self.traffic.received
    }

    /// Requests that wrote no journal entries.
    pub(super) fn others(&self) -> u64 {
        self.traffic.requests - self.groups
    }

    /// Its line.
    pub(super) fn row(&self) -> String {
        // The stock CLI has no journal.
        let of_journal = |count: u64| match self.engine {
            Engine::Ours => count.to_string(),
            _ => "-".to_owned(),
        };
        format!(
            "{:<8} {:<6} {:>5}  {:<13} {:<6} {:>1}{:>6.2} s {:>6.2} s {:>8} {:>7} {:>7} {:>8.1} KB {:>8.1} KB\n",
            self.store.name(),
            self.shape.name(),
            self.size,
            self.step.name(),
            self.engine.name(),
            if self.cut_off { ">" } else { "" },
            self.cost.wall.as_secs_f64(),
            self.cost.processor.as_secs_f64(),
            self.traffic.requests,
            of_journal(self.groups),
            of_journal(self.others()),
            self.traffic.sent as f64 / 1e3,
            self.traffic.received as f64 / 1e3,
        )
    }
}

/// One resource changed.
pub(super) struct Change {
    pub(super) store: Store,
    pub(super) resources: usize,
    /// Bytes sent before the first request with a whole snapshot.
    pub(super) before: u64,
    pub(super) groups: usize,
    /// Bytes sent in all.
    pub(super) sent: u64,
}

/// Resources made while requests took longer.
pub(super) struct Slow {
    pub(super) store: Store,
    pub(super) resources: usize,
    /// How long the provider took for each.
    pub(super) creation: Duration,
    /// How much longer each request took.
    pub(super) by: Duration,
    /// In a folder of this machine.
    pub(super) without: Duration,
    pub(super) with: Duration,
    pub(super) requests: u64,
}

/// Stacks listed.
pub(super) struct List {
    pub(super) store: Store,
    pub(super) stacks: usize,
    pub(super) by: Duration,
    pub(super) wall: Duration,
    pub(super) requests: u64,
}

/// Every measurement.
#[derive(Default)]
pub(super) struct Table {
    pub(super) stock_limit: Duration,
    pub(super) cells: Vec<Cell>,
    pub(super) changes: Vec<Change>,
    pub(super) slow: Vec<Slow>,
    pub(super) lists: Vec<List>,
}

impl Table {
    pub(super) fn find(
        &self,
        store: Store,
        shape: Shape,
        size: usize,
        step: Step,
        engine: Engine,
    ) -> Option<&Cell> {
        self.cells.iter().find(|cell| {
            (cell.store, cell.shape, cell.size, cell.step, cell.engine) == (store, shape, size, step, engine)
        })
    }

    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        self.render_cells(&mut text);
        self.render_cases(&mut text);
        text.push_str(&self.bars());
        text
    }

    fn render_cells(&self, text: &mut String) {
        if self.cells.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "{:<8} {:<6} {:>5}  {:<13} {:<6} {:>9} {:>8} {:>8} {:>7} {:>7} {:>11} {:>11}",
            "store",
            "shape",
            "size",
            "step",
            "engine",
            "wall",
            "CPU",
            "requests",
            "groups",
            "others",
            "sent",
            "received"
        );
        for cell in &self.cells {
            text.push_str(&cell.row());
        }
        let _ = writeln!(
            text,
            "the stock CLI writes its whole state twice for each resource, so that it grows with the square: > is a step of its that was ended after {} s",
            self.stock_limit.as_secs()
        );
    }

    fn render_cases(&self, text: &mut String) {
        for change in &self.changes {
            let _ = writeln!(
                text,
                "\n{}: a change to one resource of {} sent {:.1} KB in {} groups of entries and the lease before its snapshot, {:.1} KB in all",
                change.store.name(),
                change.resources,
                change.before as f64 / 1e3,
                change.groups,
                change.sent as f64 / 1e3,
            );
        }
        for slow in &self.slow {
            let _ = writeln!(
                text,
                "\n{}: {} independent resources of {} ms took {:.2} s with {} ms added to each of {} requests, {:.2} s in a folder of this machine",
                slow.store.name(),
                slow.resources,
                slow.creation.as_millis(),
                slow.with.as_secs_f64(),
                slow.by.as_millis(),
                slow.requests,
                slow.without.as_secs_f64(),
            );
        }
        for list in &self.lists {
            let _ = writeln!(
                text,
                "\n{}: `stack ls` of {} stacks took {:.2} s with {} ms added to each of {} requests",
                list.store.name(),
                list.stacks,
                list.wall.as_secs_f64(),
                list.by.as_millis(),
                list.requests,
            );
        }
    }
}
