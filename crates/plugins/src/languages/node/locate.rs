//! Where a script of the SDK is.

use super::{Flavour, Node};
use crate::languages::execute::output_of;
use crate::languages::{LanguageError, Program};
use std::path::{Path, PathBuf};
use std::process::Command;

impl Node {
    /// The file of a module, as `require.resolve` finds it in the program's folder.
    pub(super) async fn locate(
        &self,
        binary: &Path,
        module: &str,
        program: &Program,
    ) -> Result<PathBuf, LanguageError> {
        if let Some(script) = self.in_node_modules(module, &program.directory) {
            return Ok(script);
        }
        let mut command = Command::new(binary);
        command.current_dir(&program.directory);
        command.args(["-e", "console.log(require.resolve(process.argv[process.argv.length - 1]))", module]);
        match output_of(command).await {
            Ok(path) => Ok(PathBuf::from(path)),
            Err(LanguageError::Command { output, .. })
                if output.contains("MODULE_NOT_FOUND") || output.contains("Cannot find module") =>
            {
                Err(LanguageError::SdkMissing {
                    package: "@pulumi/pulumi",
                    directory: program.directory.clone(),
                    install: self.install_command(program)?.join(" "),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// The same without starting Node.js, which takes a twentieth of a second: the nearest `node_modules` that has the
    /// module. Everything that can lead elsewhere is left to Node.js.
    fn in_node_modules(&self, module: &str, directory: &Path) -> Option<PathBuf> {
        let leads_elsewhere = ["NODE_OPTIONS", "NODE_PRESERVE_SYMLINKS"];
        if self.flavour != Flavour::Node
            || !module.starts_with("@pulumi/")
            || leads_elsewhere.iter().any(|name| self.environment.filled_variable(name).is_some())
        {
            return None;
        }
        let directory = directory.canonicalize().ok()?;
        let folders = directory.ancestors().filter(|folder| !folder.ends_with("node_modules"));
        let mut scripts = folders.map(|folder| folder.join("node_modules").join(module).join("index.js"));
        scripts.find(|script| script.is_file())?.canonicalize().ok()
    }
}
