//! The results, how they grow, and what they say against the goals.

use super::measure::Cost;
use super::site::{Engine, Shape, Step};
use std::fmt::Write;

/// One measurement.
pub(super) struct Cell {
    pub(super) shape: Shape,
    pub(super) size: usize,
    pub(super) step: Step,
    pub(super) engine: Engine,
    pub(super) cost: Cost,
}

/// Every measurement.
#[derive(Default)]
pub(super) struct Table {
    cells: Vec<Cell>,
    /// Commands that take no time to speak of.
    quick: Vec<(&'static str, Cost)>,
}

impl Table {
    pub(super) fn add(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    pub(super) fn add_quick(&mut self, command: &'static str, cost: Cost) {
        self.quick.push((command, cost));
    }

    fn find(&self, shape: Shape, size: usize, step: Step, engine: Engine) -> Option<&Cost> {
        let is_it =
            |cell: &&Cell| (cell.shape, cell.size, cell.step, cell.engine) == (shape, size, step, engine);
        self.cells.iter().find(is_it).map(|cell| &cell.cost)
    }

    pub(super) fn render(&self) -> String {
        let mut text = format!(
            "{:<6} {:>6}  {:<14} {:<9} {:>9} {:>9} {:>9} {:>8} {:>12} {:>11}\n",
            "shape", "size", "step", "engine", "wall", "first", "CPU", "memory", "written", "a resource"
        );
        for cell in &self.cells {
            let cost = &cell.cost;
            let _ = writeln!(
                text,
                "{:<6} {:>6}  {:<14} {:<9} {:>7.2} s {:>7.2} s {:>7.2} s {:>5.0} MB {:>9.1} KB {:>8.2} KB",
                cell.shape.name(),
                cell.size,
                cell.step.name(),
                cell.engine.name(),
                cost.wall.as_secs_f64(),
                cost.first_output.as_secs_f64(),
                cost.processor.as_secs_f64(),
                cost.peak as f64 / 1e6,
                cost.written as f64 / 1e3,
                cost.written as f64 / 1e3 / cell.size as f64,
            );
        }
        text.push_str(&self.growth());
        text.push_str(&self.goals());
        text
    }

    /// How processor time and bytes grow from one size to the next: 1 is in step, 2 is with the square.
    fn growth(&self) -> String {
        let mut text = "\ngrowth exponents\n".to_owned();
        for cell in &self.cells {
            let smaller = self.cells.iter().filter(|other| {
                (other.shape, other.step, other.engine) == (cell.shape, cell.step, cell.engine)
                    && other.size < cell.size
                    && other.size >= 100
            });
            let Some(before) = smaller.max_by_key(|other| other.size) else { continue };
            let ratio = (cell.size as f64 / before.size as f64).ln();
            let exponent = |now: f64, then: f64| (now.max(1e-9) / then.max(1e-9)).ln() / ratio;
            let _ = writeln!(
                text,
                "{:<6} {:>6} to {:>6}  {:<14} {:<9} CPU {:>5.2}  bytes {:>5.2}",
                cell.shape.name(),
                before.size,
                cell.size,
                cell.step.name(),
                cell.engine.name(),
                exponent(cell.cost.processor.as_secs_f64(), before.cost.processor.as_secs_f64()),
                exponent(cell.cost.written as f64, before.cost.written as f64),
            );
        }
        text
    }

    /// The goals at 1,000 flat resources, and for one.
    fn goals(&self) -> String {
        let mut text = "\ngoals\n".to_owned();
        let mut goal = |name: &str, value: Option<f64>, most: f64, unit: &str| {
            if let Some(value) = value {
                let verdict = if value <= most { "met" } else { "MISSED" };
                let _ = writeln!(text, "{name:<58} {value:>7.2}{unit} of at most {most}{unit}: {verdict}");
            }
        };
        let at = |step, engine| self.find(Shape::Flat, 1000, step, engine);
        let ratio = |step, of: fn(&Cost) -> f64| {
            Some(of(at(step, Engine::Ours)?) / of(at(step, Engine::StockUnsafe)?))
        };
        let cpu: fn(&Cost) -> f64 = |cost| cost.processor.as_secs_f64();
        goal("CPU of up to that of stock skipping checkpoints", ratio(Step::Up, cpu), 0.5, "");
        goal("CPU of an unchanged up", ratio(Step::Unchanged, cpu), 0.5, "");
        goal("CPU of a preview", ratio(Step::Preview, cpu), 0.5, "");
        goal("memory of up", ratio(Step::Up, |cost| cost.peak as f64), 1.0 / 3.0, "");
        let written = at(Step::Up, Engine::Ours).map(|cost| cost.written as f64 / 1e3 / 1000.0);
        goal("bytes written by up for a resource", written, 8.0, " KB");
        let first = at(Step::Up, Engine::Ours).map(|cost| cost.first_output.as_secs_f64());
        goal("first output of up", first, 0.3, " s");
        let one = |engine| self.find(Shape::Flat, 1, Step::Up, engine).map(|cost| cost.wall.as_secs_f64());
        let wall = one(Engine::Ours).zip(one(Engine::StockUnsafe)).map(|(ours, stock)| ours / stock);
        goal("wall time of a one-resource up", wall, 0.5, "");
        let stash =
            |engine| self.find(Shape::Stash, 1000, Step::Up, engine).map(|cost| cost.wall.as_secs_f64());
        let against = |engine| Some(stash(Engine::Ours)? / stash(engine)?);
        goal("wall time of 1,000 stashes to that of stock", against(Engine::Stock), 0.05, "");
        goal("wall time of 1,000 stashes to stock skipping", against(Engine::StockUnsafe), 1.0, "");
        for (command, cost) in &self.quick {
            goal(&format!("wall time of `{command}`"), Some(cost.wall.as_secs_f64() * 1e3), 20.0, " ms");
        }
        let steps = [
            (Step::Up, "an up"),
            (Step::Unchanged, "an unchanged up"),
            (Step::Preview, "a preview"),
            (Step::Destroy, "a destroy"),
        ];
        for (step, name) in steps {
            goal(&format!("growth of CPU of {name} beyond 1,000"), self.exponent(step, cpu), 1.1, "");
        }
        let bytes = self.exponent(Step::Up, |cost| cost.written as f64);
        goal("growth of bytes of an up beyond 1,000", bytes, 1.1, "");
        text
    }

    /// How ours grows from 1,000 flat resources to the most that were measured.
    fn exponent(&self, step: Step, of: fn(&Cost) -> f64) -> Option<f64> {
        let ours = |cell: &&Cell| (cell.shape, cell.step, cell.engine) == (Shape::Flat, step, Engine::Ours);
        let most =
            self.cells.iter().filter(ours).max_by_key(|cell| cell.size).filter(|cell| cell.size > 1000)?;
        let before = self.find(Shape::Flat, 1000, step, Engine::Ours)?;
        Some((of(&most.cost) / of(before)).ln() / (most.size as f64 / 1000.0).ln())
    }
}
