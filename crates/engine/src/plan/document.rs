//! Plans in their stored form.

use super::{GoalPlan, MoreOfGoal, Plan, PlanDiff, ResourcePlan};
use crate::vault::Vault;
use crate::{Alias, AliasParent, HookMoment, Op, PropertyMap, Timeouts};
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_dialects::pulumi::plan::{AliasV1, GoalV1, MoreV1, PlanDiffV1, ResourcePlanV1};
use drystone_dialects::pulumi::properties::{SecretForm, encode_properties};
use drystone_model::{Json, Properties, Urn};
use drystone_secrets::Sealer;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A plan that cannot be stored, or was not stored by anybody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plan of {urn}: {reason}")]
pub struct PlanError {
    /// The resource.
    pub urn: Urn,
    /// What is wrong.
    pub reason: String,
}

/// The one member that a replacement trigger is stored as.
const TRIGGER: &str = "value";

impl Plan {
    /// The stored form, secrets sealed or, for a user who asked for it, in clear (S17).
    pub fn store(
        &self,
        sealer: &Arc<Sealer>,
        form: SecretForm,
    ) -> Result<BTreeMap<Urn, ResourcePlanV1>, PlanError> {
        let vault = Vault::new(Arc::clone(sealer));
        let stored = self.resources.iter().map(|(urn, plan)| {
            let stored = Storing { vault: &vault, form, urn }.resource(plan);
            let stored = stored.map_err(|reason| PlanError { urn: urn.clone(), reason })?;
            Ok((urn.clone(), stored))
        });
        stored.collect()
    }

    /// Reads the stored form.
    pub fn restore(stored: &BTreeMap<Urn, ResourcePlanV1>, sealer: &Arc<Sealer>) -> Result<Self, PlanError> {
        let vault = Vault::new(Arc::clone(sealer));
        let resources = stored.iter().map(|(urn, plan)| {
            let restored = Restoring { vault: &vault, urn }.resource(plan);
            let restored = restored.map_err(|reason| PlanError { urn: urn.clone(), reason })?;
            Ok((urn.clone(), restored))
        });
        Ok(Self { resources: resources.collect::<Result<_, _>>()? })
    }
}

struct Storing<'a> {
    vault: &'a Vault,
    form: SecretForm,
    urn: &'a Urn,
}

impl Storing<'_> {
    fn resource(&self, plan: &ResourcePlan) -> Result<ResourcePlanV1, String> {
        let state = plan.outputs.as_ref().map(|outputs| self.object("state", outputs)).transpose()?;
        Ok(ResourcePlanV1 {
            goal: plan.goal.as_ref().map(|goal| self.goal(goal)).transpose()?,
            steps: plan.ops.iter().map(ToString::to_string).collect(),
            state,
            seed: plan.seed.map(|seed| STANDARD.encode(seed)).unwrap_or_default(),
            ..ResourcePlanV1::default()
        })
    }

    fn goal(&self, goal: &GoalPlan) -> Result<GoalV1, String> {
        let dependencies = goal.property_dependencies.iter();
        Ok(GoalV1 {
            type_token: goal.type_token.clone(),
            name: goal.name.clone(),
            custom: goal.custom,
            input_diff: self.diff("inputDiff", &goal.inputs)?,
            output_diff: self.diff("outputDiff", &goal.outputs)?,
            parent: goal.parent.clone(),
            protect: goal.protect,
            dependencies: goal.dependencies.clone(),
            provider: goal.provider.clone(),
            property_dependencies: dependencies
                .map(|(key, urns)| (key.clone(), Some(urns.clone())))
                .collect(),
            delete_before_replace: goal.delete_before_replace,
            ignore_changes: goal.ignore_changes.clone(),
            additional_secret_outputs: goal.additional_secret_outputs.clone(),
            aliases: goal.aliases.iter().map(store_alias).collect(),
            id: goal.import_id.clone(),
            custom_timeouts: store_timeouts(goal.timeouts),
            more: goal.more.as_ref().map(|more| self.more(more)).transpose()?,
            ..GoalV1::default()
        })
    }

    fn more(&self, more: &MoreOfGoal) -> Result<MoreV1, String> {
        let trigger = more.replacement_trigger.iter().filter(|value| !value.is_null());
        let trigger: PropertyMap = trigger.map(|value| (TRIGGER.to_owned(), value.clone())).collect();
        let hooks = more.hooks.iter();
        Ok(MoreV1 {
            retain_on_delete: more.retain_on_delete,
            deleted_with: more.deleted_with.clone(),
            replace_with: more.replace_with.clone(),
            replace_on_changes: more.replace_on_changes.clone(),
            replacement_trigger: self.map("replacementTrigger", &trigger)?,
            hooks: hooks.map(|(moment, names)| (moment.as_str().to_owned(), names.clone())).collect(),
            anew: more.anew,
            replacement: more
                .replacement
                .as_ref()
                .map(|inputs| self.object("replacement", inputs))
                .transpose()?,
            ..MoreV1::default()
        })
    }

    fn diff(&self, part: &str, diff: &PlanDiff) -> Result<PlanDiffV1, String> {
        Ok(PlanDiffV1 {
            adds: self.map(&format!("{part}.adds"), &diff.adds)?,
            deletes: diff.deletes.clone(),
            updates: self.map(&format!("{part}.updates"), &diff.updates)?,
            ..PlanDiffV1::default()
        })
    }

    fn map(&self, part: &str, values: &PropertyMap) -> Result<Properties, String> {
        match self.form {
            SecretForm::Sealed => self.vault.seal_map(&format!("{} {part}", self.urn), values),
            SecretForm::Plaintext => {
                encode_properties(values, SecretForm::Plaintext).map_err(|error| error.to_string())
            }
        }
    }

    /// The same where no properties differ from none.
    fn object(&self, part: &str, values: &PropertyMap) -> Result<Json, String> {
        Json::parse(self.map(part, values)?.text()).map_err(|error| error.to_string())
    }
}

struct Restoring<'a> {
    vault: &'a Vault,
    urn: &'a Urn,
}

impl Restoring<'_> {
    fn resource(&self, plan: &ResourcePlanV1) -> Result<ResourcePlan, String> {
        let op = |word: &String| Op::parse(word).ok_or_else(|| format!("`{word}` is no step"));
        Ok(ResourcePlan {
            goal: plan.goal.as_ref().map(|goal| self.goal(goal)).transpose()?,
            ops: plan.steps.iter().map(op).collect::<Result<_, _>>()?,
            outputs: plan.state.as_ref().map(|state| self.object("state", state)).transpose()?,
            seed: restore_seed(&plan.seed)?,
        })
    }

    fn goal(&self, goal: &GoalV1) -> Result<GoalPlan, String> {
        let dependencies = goal.property_dependencies.iter();
        Ok(GoalPlan {
            type_token: goal.type_token.clone(),
            name: goal.name.clone(),
            custom: goal.custom,
            inputs: self.diff("inputDiff", &goal.input_diff)?,
            outputs: self.diff("outputDiff", &goal.output_diff)?,
            parent: goal.parent.clone(),
            protect: goal.protect,
            dependencies: goal.dependencies.clone(),
            provider: goal.provider.clone(),
            property_dependencies: dependencies
                .map(|(key, urns)| (key.clone(), urns.clone().unwrap_or_default()))
                .collect(),
            delete_before_replace: goal.delete_before_replace,
            ignore_changes: goal.ignore_changes.clone(),
            additional_secret_outputs: goal.additional_secret_outputs.clone(),
            aliases: goal.aliases.iter().map(restore_alias).collect(),
            import_id: goal.id.clone(),
            timeouts: restore_timeouts(&goal.custom_timeouts)?,
            more: goal.more.as_ref().map(|more| self.more(more)).transpose()?,
        })
    }

    fn more(&self, more: &MoreV1) -> Result<MoreOfGoal, String> {
        let hook = |(word, names): (&String, &Vec<String>)| {
            let moment = HookMoment::ALL.iter().find(|(_, known)| known == word);
            let moment = moment.ok_or_else(|| format!("`{word}` is no moment of a hook"))?.0;
            Ok((moment, names.clone()))
        };
        Ok(MoreOfGoal {
            retain_on_delete: more.retain_on_delete,
            deleted_with: more.deleted_with.clone(),
            replace_with: more.replace_with.clone(),
            replace_on_changes: more.replace_on_changes.clone(),
            replacement_trigger: self.map("replacementTrigger", &more.replacement_trigger)?.remove(TRIGGER),
            hooks: more.hooks.iter().map(hook).collect::<Result<_, String>>()?,
            anew: more.anew,
            replacement: more
                .replacement
                .as_ref()
                .map(|json| self.object("replacement", json))
                .transpose()?,
        })
    }

    fn diff(&self, part: &str, diff: &PlanDiffV1) -> Result<PlanDiff, String> {
        Ok(PlanDiff {
            adds: self.map(&format!("{part}.adds"), &diff.adds)?,
            deletes: diff.deletes.clone(),
            updates: self.map(&format!("{part}.updates"), &diff.updates)?,
        })
    }

    fn map(&self, part: &str, stored: &Properties) -> Result<PropertyMap, String> {
        self.vault.open_stored(&format!("{} {part}", self.urn), stored)
    }

    fn object(&self, part: &str, stored: &Json) -> Result<PropertyMap, String> {
        if !stored.text().starts_with('{') {
            return Err(format!("`{part}` is no object"));
        }
        self.map(part, &Properties::new(stored.clone()))
    }
}

fn restore_seed(text: &str) -> Result<Option<[u8; 32]>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let bytes = STANDARD.decode(text).map_err(|error| format!("the seed is not base 64: {error}"))?;
    let seed =
        <[u8; 32]>::try_from(bytes).map_err(|bytes| format!("a seed has 32 bytes, not {}", bytes.len()))?;
    Ok(Some(seed))
}

fn store_alias(alias: &Alias) -> AliasV1 {
    match alias {
        Alias::Urn(urn) => AliasV1 { urn: urn.clone(), ..AliasV1::default() },
        Alias::Spec { name, type_token, stack, project, parent } => AliasV1 {
            name: name.clone(),
            type_token: type_token.clone(),
            project: project.clone(),
            stack: stack.clone(),
            parent: if let AliasParent::Urn(urn) = parent { urn.clone() } else { Urn::default() },
            no_parent: *parent == AliasParent::Root,
            ..AliasV1::default()
        },
    }
}

fn restore_alias(alias: &AliasV1) -> Alias {
    if !alias.urn.is_empty() {
        return Alias::Urn(alias.urn.clone());
    }
    let parent = match (alias.no_parent, alias.parent.is_empty()) {
        (true, _) => AliasParent::Root,
        (false, true) => AliasParent::Unchanged,
        (false, false) => AliasParent::Urn(alias.parent.clone()),
    };
    Alias::Spec {
        name: alias.name.clone(),
        type_token: alias.type_token.clone(),
        stack: alias.stack.clone(),
        project: alias.project.clone(),
        parent,
    }
}

fn store_timeouts(limits: Timeouts) -> BTreeMap<String, f64> {
    let all = [
        ("create", limits.create),
        ("update", limits.update),
        ("delete", limits.delete),
        ("read", limits.read),
    ];
    all.into_iter().filter(|(_, limit)| *limit != 0.0).map(|(name, limit)| (name.to_owned(), limit)).collect()
}

fn restore_timeouts(stored: &BTreeMap<String, f64>) -> Result<Timeouts, String> {
    let mut limits = Timeouts::default();
    for (name, &limit) in stored {
        match name.as_str() {
            "create" => limits.create = limit,
            "update" => limits.update = limit,
            "delete" => limits.delete = limit,
            "read" => limits.read = limit,
            other => return Err(format!("`{other}` is no time limit")),
        }
    }
    Ok(limits)
}
