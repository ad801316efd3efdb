//! The `config` section of a project file.

use super::Reader;
use crate::Value;
use crate::project::{ConfigDeclaration, ConfigType, Project};
use crate::yaml::{Entry, Node};

impl Reader {
    /// Reads the declarations, or the folder that older projects name here.
    pub(super) fn config(&mut self, project: &mut Project, entry: &Entry, root: &Node) {
        if let Value::String(directory) = &entry.value.value {
            if root.get("stackConfigDir").is_some() {
                let both = "`config` and `stackConfigDir` both name a folder; keep `stackConfigDir`";
                self.wrong(&entry.value, both);
            }
            project.stack_config_dir = Some(directory.clone()).filter(|text| !text.is_empty());
            return;
        }
        for entry in self.mapping(entry) {
            if let Some(declaration) = self.declaration(&project.name, entry) {
                project.config.insert(entry.key.clone(), declaration);
            }
        }
    }

    fn declaration(&mut self, project: &str, entry: &Entry) -> Option<ConfigDeclaration> {
        let (key, node) = (entry.key.as_str(), &entry.value);
        let is_own =
            !key.contains(':') || key.strip_prefix(project).is_some_and(|rest| rest.starts_with(':'));
        let mut declaration = ConfigDeclaration::default();
        match &node.value {
            Value::Object(_) => {
                let known = ["type", "items", "description", "secret", "default", "value"];
                for member in self.members(entry, &known) {
                    self.declared(&mut declaration, member, node);
                }
            }
            value @ (Value::String(_) | Value::Integer(_) | Value::Bool(_) | Value::Array(_)) => {
                let value = Some(value.clone());
                if is_own {
                    declaration.default = value;
                } else {
                    declaration.value = value;
                }
            }
            _ => {
                let kinds = "a text, a whole number, a truth value, a list or a declaration";
                self.wrong(node, format!("`{key}` is {kinds}"));
                return None;
            }
        }
        self.consistent(key, is_own, &declaration, node);
        Some(declaration)
    }

    fn declared(&mut self, declaration: &mut ConfigDeclaration, entry: &Entry, whole: &Node) {
        let value = &entry.value.value;
        let given = Some(value.clone()).filter(|value| *value != Value::Null);
        match entry.key.as_str() {
            "type" => declaration.kind = self.config_type(whole),
            "description" => declaration.description = self.text(entry),
            "secret" => match value {
                Value::Bool(secret) => declaration.secret = *secret,
                _ => self.wrong(&entry.value, "`secret` is true or false"),
            },
            "default" => declaration.default = given,
            "value" => declaration.value = given,
            _ => {}
        }
    }

    /// The type that a declaration, or the `items` of one, names.
    fn config_type(&mut self, whole: &Node) -> Option<ConfigType> {
        let entry = whole.get("type")?;
        match entry.value.value.as_str() {
            Some("string") => Some(ConfigType::String),
            Some("integer") => Some(ConfigType::Integer),
            Some("boolean") => Some(ConfigType::Boolean),
            Some("object") => Some(ConfigType::Object),
            Some("array") => match whole.get("items") {
                Some(items) if items.value.get("type").is_some() => {
                    Some(ConfigType::Array(Box::new(self.config_type(&items.value)?)))
                }
                _ => {
                    self.wrong(whole, "an array needs `items` with the `type` of what is in it");
                    None
                }
            },
            _ => {
                self.wrong(&entry.value, "a `type` is string, integer, boolean, array or object");
                None
            }
        }
    }

    fn consistent(&mut self, key: &str, is_own: bool, declaration: &ConfigDeclaration, node: &Node) {
        let ConfigDeclaration { kind, default, value, .. } = declaration;
        let foreign = format!("`{key}` belongs to another namespace");
        if default.is_some() && value.is_some() {
            self.wrong(node, format!("`{key}` has both a `default` and a `value`"));
        } else if is_own {
            if let (Some(kind), Some(default)) = (kind, default)
                && !kind.accepts(default)
            {
                self.wrong(node, format!("the default of `{key}` is not of type {kind}"));
            }
        } else if kind.is_some() {
            self.wrong(node, format!("{foreign}, so it must not have a `type`"));
        } else if default.is_some() {
            self.wrong(node, format!("{foreign}, so it takes a `value`, not a `default`"));
        } else if value.is_none() {
            self.wrong(node, format!("{foreign}, so it must have a `value`"));
        }
    }
}
