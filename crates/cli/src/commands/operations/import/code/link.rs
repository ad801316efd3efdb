//! What resources say of each other.

use super::expression::Expression;
use super::{Declaration, Program};
use drystone_model::Urn;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Texts that resources are known by, and the property of theirs that each is. A text of several resources is none's.
#[derive(Debug, Default)]
pub(super) struct Origins {
    known: HashMap<String, Option<(Urn, &'static str)>>,
}

impl Origins {
    /// Notes that a property of a resource is a text. The first of several of one resource is what is said.
    pub(super) fn add(&mut self, urn: &Urn, property: &'static str, text: &str) {
        if text.is_empty() {
            return;
        }
        self.known
            .entry(text.to_owned())
            .and_modify(|known| {
                if known.as_ref().is_some_and(|(other, _)| other != urn) {
                    *known = None;
                }
            })
            .or_insert_with(|| Some((urn.clone(), property)));
    }

    fn find(&self, text: &str) -> Option<(&Urn, &'static str)> {
        self.known.get(text)?.as_ref().map(|(urn, property)| (urn, *property))
    }
}

/// Lets resources refer to each other rather than repeat what others are known by, as long as nothing comes to need
/// itself; and puts each behind what it needs.
pub(super) fn link(program: &mut Program, origins: &Origins) {
    let places: HashMap<Urn, usize> =
        program.declarations.iter().enumerate().map(|(at, declared)| (declared.urn.clone(), at)).collect();
    let mut needs = Needs(vec![BTreeSet::new(); program.declarations.len()]);
    for (at, declared) in program.declarations.iter().enumerate() {
        for urn in declared.options.resources() {
            needs.0[at].extend(places.get(urn).filter(|place| **place != at));
        }
    }
    for at in 0..program.declarations.len() {
        let own = program.declarations[at].urn.clone();
        let mut inputs = std::mem::take(&mut program.declarations[at].inputs);
        let mut may_need = |urn: &Urn| match places.get(urn) {
            Some(place) => needs.add(at, *place),
            None => *urn != own && program.elsewhere.contains_key(urn),
        };
        for (_, input) in &mut inputs {
            input.link(&mut |expression| match expression {
                Expression::Text(text) => {
                    if let Some((urn, property)) = origins.find(text)
                        && may_need(urn)
                    {
                        *expression = Expression::Property(urn.clone(), property.to_owned());
                    }
                }
                Expression::Resource(urn) if !may_need(urn) => {
                    *expression = Expression::Word(urn.to_string());
                }
                _ => {}
            });
        }
        program.declarations[at].inputs = inputs;
        drop_implied(&mut program.declarations[at]);
    }
    let mut declared: Vec<Option<Declaration>> = program.declarations.drain(..).map(Some).collect();
    program.declarations = needs.order().into_iter().filter_map(|at| declared[at].take()).collect();
}

/// What an input refers to need not be waited for besides.
fn drop_implied(declared: &mut Declaration) {
    let mut implied = HashSet::new();
    declared.inputs.iter().for_each(|(_, input)| {
        input.resources(&mut |urn| {
            implied.insert(urn);
        });
    });
    declared.options.depends_on.retain(|urn| !implied.contains(urn));
}

/// What each needs, by its place.
struct Needs(Vec<BTreeSet<usize>>);

impl Needs {
    /// Lets one need another, unless that needs it already.
    fn add(&mut self, one: usize, other: usize) -> bool {
        if self.0[one].contains(&other) {
            return true;
        }
        if one == other || self.reaches(other, one) {
            return false;
        }
        self.0[one].insert(other);
        true
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut open = vec![from];
        let mut seen = HashSet::from([from]);
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            open.extend(self.0[at].iter().copied().filter(|next| seen.insert(*next)));
        }
        false
    }

    /// Every place behind what it needs, in the order that there was as far as that goes.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.0.len());
        let mut seen = HashSet::new();
        for start in 0..self.0.len() {
            let mut open = vec![(start, false)];
            while let Some((at, is_ready)) = open.pop() {
                if is_ready {
                    order.push(at);
                } else if seen.insert(at) {
                    open.push((at, true));
                    open.extend(
                        self.0[at]
                            .iter()
                            .rev()
                            .filter(|next| !seen.contains(*next))
                            .map(|next| (*next, false)),
                    );
                }
            }
        }
        order
    }
}
