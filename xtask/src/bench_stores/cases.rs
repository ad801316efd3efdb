//! What is done on each medium, and what of it is written down.

use super::medium::{Medium, Spent};
use super::table::{Cell, Change, List, Slow, Table};
use crate::bench_up::{Ended, Engine, Shape, Site, Step};
use crate::failure::Failure;
use std::path::PathBuf;
use std::time::Duration;

/// How many resources the stack has of which one is changed.
const CHANGED: usize = 2000;
/// How many resources are made while requests take long.
const SLOW: usize = 500;
/// How much longer each request takes then.
const SLOW_BY: Duration = Duration::from_millis(50);
/// How long the provider takes for one of its resources, next to values that take no time.
const CREATION: u64 = 100;
/// How much longer each request takes while stacks are listed.
const LIST_BY: Duration = Duration::from_millis(10);
/// How often a list is measured.
const LISTS: usize = 5;
/// How often an update without a change is measured, which is over in a moment.
const UNCHANGED: usize = 5;
/// How many stacks are made at once for it.
const MAKERS: usize = 8;

/// Where the cases are run, and with which binaries.
pub(super) struct Workshop {
    pub(super) folder: PathBuf,
    pub(super) binaries: PathBuf,
    /// How long the stock CLI may take for one step.
    pub(super) stock_limit: Duration,
}

impl Workshop {
    fn site(&self, engine: Engine, shape: Shape, size: usize) -> Result<Site, Failure> {
        Site::new(&self.folder, engine, shape, size, &self.binaries)
    }

    /// Makes a stack, keeps it and destroys it.
    pub(super) fn updates(
        &self,
        medium: &Medium,
        engine: Engine,
        shape: Shape,
        size: usize,
        table: &mut Table,
    ) -> Result<(), Failure> {
        let store = medium.store;
        eprintln!("measuring {size} resources, {}, {}, {}", shape.name(), engine.name(), store.name());
        let mut site = self.site(engine, shape, size)?.on(medium.place());
        site.begin(&shape.yaml(size, None))?;
        for step in [Step::Up, Step::Unchanged, Step::Destroy] {
            let times = if step == Step::Unchanged { UNCHANGED } else { 1 };
            let mut cells = Vec::new();
            for _ in 0..times {
                let mark = medium.mark();
                let (cost, cut_off) = match engine {
                    Engine::Ours => (site.run(step.arguments())?, false),
                    _ => match site.run_within(self.stock_limit, step.arguments())? {
                        Ended::ByItself(cost) => (cost, false),
                        Ended::CutOff(cost) => (cost, true),
                    },
                };
                let Spent { traffic, asked } = medium.since(&mark);
                let groups = asked.iter().filter(|asked| store.is_group(asked)).count() as u64;
                cells.push(Cell { store, shape, size, step, engine, cost, cut_off, traffic, groups });
            }
            cells.sort_by_key(|cell| cell.cost.wall);
            let cell = cells.swap_remove(times / 2);
            let cut_off = cell.cut_off;
            eprint!("{}", cell.row());
            table.cells.push(cell);
            if cut_off && step == Step::Up {
                site = self.made_by_ours(medium, shape, size)?.handed_to(engine);
            }
        }
        Ok(())
    }

    /// A stack that ours has made: it is the same for whoever goes on with it (S14).
    fn made_by_ours(&self, medium: &Medium, shape: Shape, size: usize) -> Result<Site, Failure> {
        let site = self.site(Engine::Ours, shape, size)?.on(medium.place());
        site.begin(&shape.yaml(size, None))?;
        site.run(Step::Up.arguments())?;
        Ok(site)
    }

    /// Changes one resource of many. What is sent before the snapshot is the journal, the lease and the questions: the
    /// bytes of all requests before the first that writes a whole snapshot, heads included.
    pub(super) fn change(&self, medium: &Medium, table: &mut Table) -> Result<(), Failure> {
        let store = medium.store;
        eprintln!("measuring a change to one resource of {CHANGED}, {}", store.name());
        let site = self.site(Engine::Ours, Shape::Flat, CHANGED)?.on(medium.place());
        site.begin(&Shape::Flat.yaml(CHANGED, None))?;
        site.run(Step::Up.arguments())?;
        site.write_project(&Shape::Flat.yaml(CHANGED, Some(CHANGED / 2)))?;
        let mark = medium.mark();
        site.run(Step::Up.arguments())?;
        let spent = medium.since(&mark);
        let end = spent.asked.iter().position(|asked| store.is_snapshot(asked));
        let end = end.ok_or_else(|| Failure::new("the change wrote no snapshot"))?;
        let before = spent.asked[..end].iter().map(|asked| asked.sent).sum();
        let groups = spent.asked[..end].iter().filter(|asked| store.is_group(asked)).count();
        table.changes.push(Change { store, resources: CHANGED, before, groups, sent: spent.traffic.sent });
        Ok(())
    }

    /// Makes independent resources while every request takes longer, and in a folder of this machine, which is as near
    /// as can be to keeping no state at all.
    pub(super) fn slow(&self, medium: &Medium, table: &mut Table) -> Result<(), Failure> {
        for (shape, creation) in [(Shape::Flat, CREATION), (Shape::Stash, 0)] {
            eprintln!("measuring {SLOW} resources, {creation} ms each, {} slow", medium.store.name());
            let site = |engine| -> Result<Site, Failure> {
                Ok(self.site(engine, shape, SLOW)?.with("BENCH_DELAY_MS", creation.to_string()))
            };
            let project = shape.project(SLOW);
            let up = |site: Site, by: Duration| {
                site.begin(&project)?;
                medium.slow_down(by);
                let cost = site.run(Step::Up.arguments());
                medium.slow_down(Duration::ZERO);
                cost
            };
            let without = up(site(Engine::Ours)?, Duration::ZERO)?;
            let mark = medium.mark();
            let with = up(site(Engine::Ours)?.on(medium.place()), SLOW_BY)?;
            let spent = medium.since(&mark);
            table.slow.push(Slow {
                store: medium.store,
                resources: SLOW,
                creation: Duration::from_millis(creation),
                by: SLOW_BY,
                without: without.wall,
                with: with.wall,
                requests: spent.traffic.requests,
            });
        }
        Ok(())
    }

    /// Lists many stacks while every request takes longer.
    pub(super) fn list(&self, medium: &Medium, stacks: usize, table: &mut Table) -> Result<(), Failure> {
        eprintln!("making {stacks} stacks, {}", medium.store.name());
        let site = self.site(Engine::Ours, Shape::Flat, 1)?.on(medium.place());
        site.begin(&Shape::Flat.yaml(1, None))?;
        std::thread::scope(|scope| {
            let makers: Vec<_> = (0..MAKERS)
                .map(|first| {
                    let site = &site;
                    scope.spawn(move || {
                        for number in (first..stacks.saturating_sub(1)).step_by(MAKERS) {
                            site.run(&["stack", "init", "--no-select", &format!("s{number:04}")])?;
                        }
                        Ok::<(), Failure>(())
                    })
                })
                .collect();
            let ended = makers
                .into_iter()
                .map(|maker| maker.join().unwrap_or_else(|_| Err(Failure::new("a stack could not be made"))));
            ended.collect::<Result<(), Failure>>()
        })?;
        medium.slow_down(LIST_BY);
        let mark = medium.mark();
        let walls: Result<Vec<Duration>, Failure> =
            (0..LISTS).map(|_| Ok(site.run(&["stack", "ls"])?.wall)).collect();
        medium.slow_down(Duration::ZERO);
        let mut walls = walls?;
        walls.sort_unstable();
        let spent = medium.since(&mark);
        table.lists.push(List {
            store: medium.store,
            stacks,
            by: LIST_BY,
            wall: walls[LISTS / 2],
            requests: spent.traffic.requests / LISTS as u64,
        });
        Ok(())
    }
}
