//! The functions of the language.

use super::format;
use super::promise::{Known, resolve};
use super::run::Evaluator;
use super::value::{Evaluated, Stopped, Val, archive_of, archived};
use crate::syntax::{Span, Text};
use crate::template::{Accessor, ArchiveKind, AssetKind, Expression, Form, Function, Shared, Unary};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use drystone_model::{Archive, ArchiveSource, Asset, AssetSource};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// Padding is needed; what the last digit has too much is not looked at.
const TOLERANT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

impl Evaluator {
    /// Calls a function.
    pub(super) fn call(self: &Arc<Self>, value: &Shared) -> Evaluated {
        let Expression { form: Form::Call(function), span } = value.as_ref() else { return Err(Stopped) };
        match function.as_ref() {
            Function::Invoke(_) => self.invoke(value),
            Function::Join { delimiter, values } => self.join(delimiter, values),
            Function::Split { delimiter, source } => self.split(delimiter, source),
            Function::Select { index, values } => self.select(index, values),
            Function::Unary(unary, argument) => self.unary(*unary, argument, *span),
            Function::Asset(kind, source) => self.asset(*kind, source),
            Function::Archive(kind, source) => self.archive(*kind, source),
            Function::AssetArchive(members) => self.asset_archive(members),
            Function::StackReference { stack, property } => self.stack_reference(stack, property),
        }
    }

    /// Evaluates two arguments, both even when the first is wrong.
    fn both(self: &Arc<Self>, first: &Shared, second: &Shared) -> Result<Vec<Val>, Stopped> {
        let (first, second) = (self.evaluate(first), self.evaluate(second));
        Ok(vec![first?, second?])
    }

    fn join(self: &Arc<Self>, delimiter: &Shared, values: &Shared) -> Evaluated {
        let spans = (delimiter.span, values.span);
        self.apply(self.both(delimiter, values)?, move |this, arguments| {
            let [delimiter, values] = two(arguments)?;
            let delimiter = match &delimiter {
                Val::Null => Ok(Arc::from("")),
                Val::String(text) => Ok(Arc::clone(text)),
                other => {
                    Err(this.fail(spans.0, format!("delimiter must be a string, not {}", other.describe())))
                }
            };
            let Val::List(items) = &values else {
                let what = values.describe();
                let summary = format!("the second argument to fn::join must be a list, found {what}");
                return Err(this.fail(spans.1, summary));
            };
            let mut texts: Vec<&str> = Vec::with_capacity(items.len());
            let mut wrong = None;
            for (at, item) in items.iter().enumerate() {
                match item {
                    Val::String(text) => texts.push(text),
                    other => {
                        let what = other.describe();
                        wrong = Some(this.fail(
                            spans.1,
                            format!(
                                "the second argument to fn::join must be a list of strings, found {what} at index {at}"
                            ),
                        ));
                    }
                }
            }
            let delimiter = delimiter?;
            wrong.map_or_else(|| Ok(Val::text(texts.join(&delimiter))), Err)
        })
    }

    fn split(self: &Arc<Self>, delimiter: &Shared, source: &Shared) -> Evaluated {
        let spans = (delimiter.span, source.span);
        self.apply(self.both(delimiter, source)?, move |this, arguments| {
            let [delimiter, source] = two(arguments)?;
            let text = |value: &Val, span| match value {
                Val::String(text) => Ok(Arc::clone(text)),
                other => Err(this.fail(span, format!("must be a string, not {}", other.describe()))),
            };
            let (delimiter, source) = (text(&delimiter, spans.0), text(&source, spans.1));
            let (delimiter, source) = (delimiter?, source?);
            let parts: Vec<Val> = match delimiter.as_ref() {
                "" => source.chars().map(|character| Val::text(character.to_string())).collect(),
                delimiter => source.split(delimiter).map(Val::text).collect(),
            };
            Ok(Val::list(parts))
        })
    }

    fn select(self: &Arc<Self>, index: &Shared, values: &Shared) -> Evaluated {
        let spans = (index.span, values.span);
        self.apply(self.both(index, values)?, move |this, arguments| {
            let [index, values] = two(arguments)?;
            let Val::Number(number) = index else {
                return Err(this.fail(spans.0, format!("index must be a number, not {}", index.describe())));
            };
            #[expect(clippy::cast_possible_truncation, reason = "what does not fit is refused below")]
            let whole = number as i64;
            #[expect(clippy::cast_precision_loss, reason = "only compared with what it came from")]
            let same = whole as f64 == number;
            if !same || whole < 0 {
                return Err(this.fail(spans.0, format!("index must be a positive integral, not {number}")));
            }
            this.walk(values, &[Accessor::Index(whole)], spans.1)
        })
    }

    fn unary(self: &Arc<Self>, unary: Unary, argument: &Shared, span: Span) -> Evaluated {
        let value = self.evaluate(argument)?;
        match unary {
            Unary::Secret => Ok(Val::Output(self.hidden(value, true))),
            Unary::Unsecret => Ok(Val::Output(self.hidden(value, false))),
            Unary::ResourceName | Unary::ResourceType => match &value {
                Val::Resource(handle) if unary == Unary::ResourceName => Ok(Val::text(handle.name.as_str())),
                Val::Resource(handle) => Ok(Val::text(handle.token.as_str())),
                other => {
                    let (name, what) = (unary.name(), other.describe());
                    Err(self.fail(argument.span, format!("{name} requires a resource, got {what}")))
                }
            },
            _ => {
                let place = argument.span;
                self.apply(vec![value], move |this, mut arguments| {
                    let value = arguments.pop().ok_or(Stopped)?;
                    this.unary_plain(unary, &value, place, span)
                })
            }
        }
    }

    /// A value that is or is no secret, whatever it was. Nothing is no secret.
    pub(super) fn hidden(&self, value: Val, secret: bool) -> super::promise::Promise {
        let secret = secret && !matches!(value, Val::Null);
        self.promise(async move {
            let known = resolve(&value).await?;
            Ok(Known { secret, ..known })
        })
    }

    fn unary_plain(&self, unary: Unary, value: &Val, place: Span, span: Span) -> Evaluated {
        let name = unary.name();
        let text = || match value {
            Val::String(text) => Ok(text),
            other => Err(self.fail(place, format!("{name} requires a string, got {}", other.describe()))),
        };
        match unary {
            Unary::ToJson => match format::json(value) {
                Ok(json) => Ok(Val::text(json)),
                Err(problem) => Err(self.fail(span, format!("failed to encode JSON: {problem}"))),
            },
            Unary::ToBase64 => Ok(Val::text(BASE64_STANDARD.encode(text()?.as_bytes()))),
            Unary::FromBase64 => self.decode_base64(text()?, place),
            Unary::Sha1 => Ok(Val::text(hex(&Sha1::digest(text()?.as_bytes())))),
            Unary::ReadFile => {
                let bytes = self.read_file(name, text()?, place)?;
                let read = String::from_utf8(bytes);
                read.map(Val::text).map_err(|_| {
                    let summary = "the file is not valid UTF-8; fn::filebase64 reads any file".to_owned();
                    self.fail(place, summary)
                })
            }
            Unary::FileBase64 => {
                Ok(Val::text(BASE64_STANDARD.encode(self.read_file(name, text()?, place)?)))
            }
            Unary::FileBase64Sha256 => {
                let digest = Sha256::digest(self.read_file(name, text()?, place)?);
                Ok(Val::text(BASE64_STANDARD.encode(digest)))
            }
            Unary::Length => match value {
                Val::List(items) => Ok(count(items.len())),
                Val::Object(members) => Ok(count(members.len())),
                Val::String(text) => Ok(count(text.graphemes(true).count())),
                other => {
                    let summary = format!("{name} requires a list, map, or string, got {}", other.describe());
                    Err(self.fail(place, summary))
                }
            },
            Unary::SingleOrNone => match value {
                Val::List(items) if items.len() > 1 => {
                    let summary = format!("{name} expected a list of 0 or 1 elements, got {}", items.len());
                    Err(self.fail(place, summary))
                }
                Val::List(items) => Ok(items.first().cloned().unwrap_or(Val::Null)),
                other => Err(self.fail(place, format!("{name} requires a list, got {}", other.describe()))),
            },
            Unary::Secret | Unary::Unsecret | Unary::ResourceName | Unary::ResourceType => Err(Stopped),
        }
    }

    fn decode_base64(&self, text: &str, place: Span) -> Evaluated {
        let packed: String = text.chars().filter(|character| !matches!(character, '\r' | '\n')).collect();
        let bytes = TOLERANT.decode(packed).map_err(|error| {
            self.fail(place, format!("fn::fromBase64 unable to decode {text}, error: {error}"))
        })?;
        let decoded = String::from_utf8(bytes);
        decoded
            .map(Val::text)
            .map_err(|_| self.fail(place, "fn::fromBase64 output is not a valid UTF-8 string".to_owned()))
    }

    fn read_file(&self, name: &str, path: &str, place: Span) -> Result<Vec<u8>, Stopped> {
        let full = self.surroundings.directory.join(path);
        std::fs::read(full)
            .map_err(|error| self.fail(place, format!("{name}: error reading file at path {path}: {error}")))
    }

    fn asset(self: &Arc<Self>, kind: AssetKind, source: &Shared) -> Evaluated {
        self.with_text(source, move |text| {
            let source = match kind {
                AssetKind::Text => AssetSource::Text(text),
                AssetKind::File => AssetSource::Path(text),
                AssetKind::Remote => AssetSource::Uri(text),
            };
            Val::Asset(Asset { hash: String::new(), source })
        })
    }

    fn archive(self: &Arc<Self>, kind: ArchiveKind, source: &Shared) -> Evaluated {
        self.with_text(source, move |text| {
            let source = match kind {
                ArchiveKind::File => ArchiveSource::Path(text),
                ArchiveKind::Remote => ArchiveSource::Uri(text),
            };
            Val::Archive(Archive { hash: String::new(), source })
        })
    }

    fn with_text(
        self: &Arc<Self>,
        source: &Shared,
        make: impl FnOnce(String) -> Val + Send + 'static,
    ) -> Evaluated {
        let span = source.span;
        self.apply(vec![self.evaluate(source)?], move |this, arguments| match arguments.first() {
            Some(Val::String(text)) => Ok(make(text.to_string())),
            Some(other) => {
                let what = other.describe();
                Err(this
                    .fail(span, format!("the argument of an asset or archive must be a string, got {what}")))
            }
            None => Err(Stopped),
        })
    }

    fn asset_archive(self: &Arc<Self>, members: &[(Arc<str>, Shared)]) -> Evaluated {
        let evaluated: Vec<Evaluated> = members.iter().map(|(_, value)| self.evaluate(value)).collect();
        let names: Vec<Arc<str>> = members.iter().map(|(name, _)| Arc::clone(name)).collect();
        let values = evaluated.into_iter().collect::<Result<Vec<Val>, Stopped>>()?;
        self.apply(values, move |_, values| {
            let mut assets = BTreeMap::new();
            for (name, value) in names.iter().zip(&values) {
                assets.insert(name.to_string(), archived(value).ok_or(Stopped)?);
            }
            Ok(archive_of(assets))
        })
    }

    fn stack_reference(self: &Arc<Self>, stack: &Text, property: &Shared) -> Evaluated {
        let handle = self.stack_handle(stack.as_str());
        let property_value = self.evaluate(property)?;
        let (span, place) = (property.span, stack.span);
        self.apply(vec![property_value], move |this, arguments| match arguments.first() {
            Some(Val::String(name)) => {
                let path = [Accessor::Name("outputs".into()), Accessor::Key(Arc::clone(name))];
                this.walk(Val::Resource(handle), &path, place)
            }
            Some(other) => {
                let what = other.describe();
                let summary = format!(
                    "expected property name argument to fn::stackReference to be a string, got {what}"
                );
                Err(this.fail(span, summary))
            }
            None => Err(Stopped),
        })
    }
}

fn two(arguments: Vec<Val>) -> Result<[Val; 2], Stopped> {
    <[Val; 2]>::try_from(arguments).map_err(|_| Stopped)
}

fn count(number: usize) -> Val {
    #[expect(clippy::cast_precision_loss, reason = "nothing is that long")]
    Val::Number(number as f64)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
