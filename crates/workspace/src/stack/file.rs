//! The file of a stack's settings.

use super::settings::{
    self, CONFIG, ENCRYPTED_KEY, ENCRYPTION_SALT, ENVIRONMENT, ReadSettings, SECRETS_PROVIDER, StackSettings,
};
use crate::config::{Config, Key};
use crate::file::{self, Access, BYTE_ORDER_MARK, FileError, Format};
use crate::project::Problem;
use crate::yaml::{self, Document, Target};
use crate::{Location, Value};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A stack's settings together with the file that they stand in.
///
/// Change [`Self::settings`] and [`Self::save`]: only the text of what changed is written anew.
#[derive(Debug)]
pub struct StackFile {
    /// The settings.
    pub settings: StackSettings,
    path: PathBuf,
    format: Format,
    project: Option<String>,
    /// The text of the file, or nothing if there is none yet.
    text: Option<String>,
    /// What that text says.
    saved: ReadSettings,
}

/// Why a stack's settings cannot be read or saved.
#[derive(Debug, thiserror::Error)]
pub enum StackFileError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file does not hold stack settings.
    #[error("{}:{problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The change cannot be written so that everything else in the file stays what it is. Nothing was written.
    #[error(
        "cannot change `{}` without disturbing the rest of it{}",
        path.display(),
        location.map(|Location { line, .. }| format!(" (line {line} is in the way)")).unwrap_or_default()
    )]
    Entangled {
        /// The file.
        path: PathBuf,
        /// What is in the way, when it is known.
        location: Option<Location>,
    },
    /// Somebody changed the file after it was read. Nothing was written.
    #[error("`{}` was changed by somebody else in the meantime", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

impl StackFile {
    /// Reads the settings of a file; a file that is not there has none. `project` gives keys without a namespace one.
    pub fn open(path: &Path, project: Option<&str>) -> Result<Self, StackFileError> {
        Format::of(path)?;
        Self::with_text(path, file::read_if_there(path)?, project)
    }

    /// The settings of a file whose text is known; without a text there is no file.
    pub fn with_text(
        path: &Path,
        text: Option<String>,
        project: Option<&str>,
    ) -> Result<Self, StackFileError> {
        let format = Format::of(path)?;
        let saved = read(path, format, text.as_deref().unwrap_or_default(), project)?;
        Ok(Self {
            settings: saved.settings.clone(),
            path: path.to_owned(),
            format,
            project: project.map(str::to_owned),
            text,
            saved,
        })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Whether the settings differ from those in the file.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.settings != self.saved.settings
    }

    /// The text that the file is to have.
    pub fn render(&self) -> Result<String, StackFileError> {
        let text = self.text.as_deref().unwrap_or_default();
        if !self.is_changed() {
            return Ok(text.to_owned());
        }
        let rendered = match self.format {
            Format::Json => super::json::render(text, &self.settings, &self.saved),
            Format::Yaml => self.render_yaml(text)?,
        };
        let again = read(&self.path, self.format, &rendered, self.project.as_deref());
        if again.is_ok_and(|again| means(&again.settings, &self.settings)) {
            Ok(rendered)
        } else {
            Err(StackFileError::Entangled { path: self.path.clone(), location: None })
        }
    }

    /// Writes the changed settings and says whether there was anything to write.
    ///
    /// The file is replaced in one step: a crash leaves the old text or the new one.
    pub fn save(&mut self) -> Result<bool, StackFileError> {
        let text = self.render()?;
        if self.text.as_deref().unwrap_or_default() == text {
            return Ok(false);
        }
        if file::read_if_there(&self.path)? != self.text {
            return Err(StackFileError::Changed { path: self.path.clone() });
        }
        file::write(&self.path, &text, Access::Shared)?;
        self.saved = read(&self.path, self.format, &text, self.project.as_deref())?;
        self.text = Some(text);
        Ok(true)
    }

    fn render_yaml(&self, text: &str) -> Result<String, StackFileError> {
        let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(body) => (&text[..BYTE_ORDER_MARK.len_utf8()], body),
            None => ("", text),
        };
        let document = Document::parse(body)
            .map_err(|error| StackFileError::Invalid { path: self.path.clone(), problem: error.into() })?;
        let edited = yaml::edit(&document, &self.targets(&document)).map_err(|error| {
            StackFileError::Entangled { path: self.path.clone(), location: error.location }
        })?;
        Ok(format!("{mark}{edited}"))
    }

    /// What each section of the file is to become.
    fn targets(&self, document: &Document) -> Vec<(String, Target<'_>)> {
        let (new, old) = (&self.settings, &self.saved.settings);
        let text = |new: &Option<String>, old: &Option<String>| {
            if new == old {
                return Some(Target::Keep);
            }
            new.as_ref().map(|text| Target::Value(Cow::Owned(Value::String(text.clone()))))
        };
        let environment = match &new.environment {
            same if *same == old.environment => Some(Target::Keep),
            environment => environment.as_ref().map(|value| Target::Value(Cow::Borrowed(value))),
        };
        let sections = [
            (SECRETS_PROVIDER, text(&new.secrets_provider, &old.secrets_provider)),
            (ENCRYPTED_KEY, text(&new.encrypted_key, &old.encrypted_key)),
            (ENCRYPTION_SALT, text(&new.encryption_salt, &old.encryption_salt)),
            (CONFIG, self.config_target(document)),
            (ENVIRONMENT, environment),
        ];
        let root = document.root.value.as_object();
        let is_there = |name: &str| root.is_some_and(|members| members.contains_key(name));
        let mut targets: Vec<(String, Target<'_>)> = sections
            .iter()
            .filter_map(|(name, target)| Some(((*name).to_owned(), target.clone()?)))
            .filter(|(name, target)| !matches!(target, Target::Keep) || is_there(name))
            .collect();
        for name in root.into_iter().flat_map(|members| members.keys()) {
            if !sections.iter().any(|(section, _)| section == name) {
                targets.push((name.clone(), Target::Keep));
            }
        }
        targets
    }

    /// What the configuration section is to become: values that stay keep their text and the spelling of their keys.
    fn config_target(&self, document: &Document) -> Option<Target<'_>> {
        let (new, old) = (&self.settings.config, &self.saved.settings.config);
        if new == old {
            return Some(Target::Keep);
        }
        if new.is_empty() {
            return None;
        }
        let mut members: Vec<(String, Target<'_>)> = Vec::new();
        let written = settings::config_node(&document.root).and_then(|node| node.value.members());
        for name in written.iter().flat_map(|members| members.keys()) {
            let Ok(key) = Key::parse_in(self.project.as_deref(), name) else { continue };
            if let Some(value) = new.stored(&key) {
                members.push((name.clone(), value_target(value, old, &key)));
            }
        }
        let added = new.iter().filter(|(key, _)| !self.saved.spelled.contains_key(key));
        let names: Vec<(String, &Key)> = added.map(|(key, _)| (key.to_string(), key)).collect();
        for (name, key) in yaml::sort(names.iter().map(|(name, key)| (name.as_str(), *key)).collect()) {
            if let Some(value) = new.stored(key) {
                members.push((name.to_owned(), Target::Value(Cow::Borrowed(value))));
            }
        }
        Some(Target::Mapping(members))
    }
}

fn value_target<'a>(value: &'a Value, old: &Config, key: &Key) -> Target<'a> {
    if old.stored(key) == Some(value) { Target::Keep } else { Target::Value(Cow::Borrowed(value)) }
}

fn read(
    path: &Path,
    format: Format,
    text: &str,
    project: Option<&str>,
) -> Result<ReadSettings, StackFileError> {
    let invalid = |problem| StackFileError::Invalid { path: path.to_owned(), problem };
    let parsed = format.parse(text).map_err(|error| invalid(error.into()))?;
    settings::read(&parsed, project).map_err(invalid)
}

/// Whether two settings say the same; a whole float and the integer of that value are the same text.
fn means(read: &StackSettings, wanted: &StackSettings) -> bool {
    let texts = |config: &Config| -> Vec<(Key, String)> {
        config.iter().map(|(key, value)| (key.clone(), value.to_json())).collect()
    };
    read.secrets_provider == wanted.secrets_provider
        && read.encrypted_key == wanted.encrypted_key
        && read.encryption_salt == wanted.encryption_salt
        && read.environment == wanted.environment
        && texts(&read.config) == texts(&wanted.config)
}
