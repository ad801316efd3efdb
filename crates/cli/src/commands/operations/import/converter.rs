//! `import --from`: a converter lists what another system has made.

use super::file::{ImportFile, Listed, ListedExtension, ListedParameterization, Members};
use crate::commands::operations::hosting::{Hosting, hinted};
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use base64::{Engine, engine::general_purpose::STANDARD};
use drystone_dialects::pulumi::properties::{SecretForm, encode};
use drystone_engine::PropertyMap;
use drystone_plugins::converter::{Conversion, Converted, GrpcConverter};
use drystone_plugins::languages::Offer;
use drystone_plugins::search::{Kind, Wanted};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// A converter, and where its list goes.
#[derive(Debug)]
pub(super) struct Converting {
    /// The converter's name.
    pub(super) name: String,
    /// What it is told.
    pub(super) args: Vec<String>,
    /// Where the list is kept; in a new file, should the import fail, otherwise.
    pub(super) kept: Option<PathBuf>,
}

impl Converting {
    /// What the converter finds.
    pub(super) async fn list(&self, context: &Context) -> Outcome<ImportFile> {
        let conversion = tokio::select! {
            conversion = self.convert(context) => conversion?,
            _ = tokio::signal::ctrl_c() => return Err(Failure::new(ExitCode::Cancelled, "import cancelled")),
        };
        let failed = conversion.failed();
        for remark in &conversion.remarks {
            if remark.fatal {
                terminal::failure(&Failure::general(&remark.text));
            } else {
                terminal::warning(&remark.text);
            }
        }
        if failed {
            return Err(Failure::general("conversion failed")
                .hint(format!("nothing was taken over; the converter `{}` said why above", self.name)));
        }
        let resources = conversion.resources.into_iter().map(listed).collect::<Outcome<_>>()?;
        Ok(ImportFile { resources, ..ImportFile::default() })
    }

    async fn convert(&self, context: &Context) -> Outcome<Conversion> {
        let project = context.require_project()?;
        let runtime = project.runtime.clone().unwrap_or_default();
        if self.name == "terraform" && runtime.name == "hcl" {
            return Err(Failure::configuration(
                "what `import --from terraform` takes over does not line up with programs of the runtime `hcl`",
            )
            .hint("use `drystone import --from hcl`"));
        }
        let hosting = Hosting::alone(context, Some(&project), &self.name).await?;
        let converted = self.ask(&hosting).await;
        hosting.close().await;
        converted
    }

    async fn ask(&self, hosting: &Hosting) -> Outcome<Conversion> {
        let wanted = Wanted { kind: Kind::Converter, name: self.name.clone(), version: None };
        let started =
            hosting.host().start(&wanted, &BTreeMap::new(), &Offer::default()).await.map_err(|error| {
                let hint = error.hint();
                hinted(
                    Failure::general(format!("load converter plugin: load \"{}\": {error}", self.name)),
                    hint,
                )
            })?;
        if let Some(warning) = started.warning {
            terminal::warning(warning);
        }
        let _working = terminal::working("converting");
        let converter = GrpcConverter::new(&self.name, started.plugin, hosting.endpoint().clone());
        converter.convert_state(self.args.clone()).await.map_err(|error| {
            Failure::general(format!("converter \"{}\" failed: {error}", self.name))
                .hint("nothing was taken over; what follows `--` is for the converter")
        })
    }

    /// Keeps the list where it was asked for, or where it helps to try again. It may hold secrets in clear.
    pub(super) fn keep(&self, context: &Context, file: &ImportFile, failed: bool) -> Outcome {
        let fail = |error: &dyn std::fmt::Display| {
            Failure::general(format!("the list that the converter made cannot be written: {error}"))
                .hint("name a file that can be written with `--generate-resources FILE`")
        };
        let text = file.text().map_err(|error| fail(&error))?;
        let path = match &self.kept {
            None if !failed => return Ok(()),
            Some(path) => {
                let path = context.environment.resolve(path);
                drystone_workspace::write_private(&path, &text).map_err(|error| fail(&error))?;
                path
            }
            None => {
                let mut new = tempfile::Builder::new()
                    .prefix("pulumi-import-")
                    .suffix(".json")
                    .tempfile_in(context.environment.working_directory())
                    .map_err(|error| fail(&error))?;
                new.write_all(text.as_bytes()).map_err(|error| fail(&error))?;
                new.keep().map_err(|error| fail(&error))?.1
            }
        };
        let path = path.display();
        terminal::note(match failed {
            true => format!("Generated import file written out, edit and rerun import with --file {path}"),
            false => format!("Generated import file written out to {path}"),
        });
        Ok(())
    }
}

/// One resource of a conversion as a list has it, with both of its names.
fn listed(mut converted: Converted) -> Outcome<Listed> {
    if converted.logical_name.is_empty() {
        converted.logical_name.clone_from(&converted.name);
    } else if converted.name.is_empty() {
        converted.name.clone_from(&converted.logical_name);
    }
    let name = &converted.name;
    Ok(Listed {
        inputs: members(converted.inputs, "inputs", name)?,
        outputs: members(converted.outputs, "outputs", name)?,
        type_token: converted.type_token,
        id: converted.id,
        parent: converted.parent,
        provider: converted.provider,
        version: converted.version,
        plugin_download_url: converted.download_url,
        properties: converted.properties,
        component: converted.component,
        remote: converted.remote,
        logical_name: converted.logical_name,
        parameterization: converted.parameterization.map(|base| ListedParameterization {
            plugin_name: base.name,
            plugin_version: base.version,
            value: STANDARD.encode(base.value),
        }),
        extension: converted.extension.map(|extension| ListedExtension {
            name: extension.name,
            version: extension.version,
            value: STANDARD.encode(extension.value),
        }),
        name: converted.name,
    })
}

/// Properties as a list has them: secrets in clear, marked as such.
fn members(properties: Option<PropertyMap>, what: &str, name: &str) -> Outcome<Option<Members>> {
    let fail = |error: &dyn std::fmt::Display| {
        Failure::general(format!("the {what} of the resource \"{name}\" cannot be listed: {error}"))
    };
    let Some(properties) = properties else { return Ok(None) };
    let mut members = Members::new();
    for (key, value) in properties {
        let json = encode(&value, SecretForm::Plaintext).map_err(|error| fail(&error))?;
        members.insert(key, serde_json::from_str(json.text()).map_err(|error| fail(&error))?);
    }
    Ok(Some(members))
}
