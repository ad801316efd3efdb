//! Pulumi's SDK for Python from PyPI, in a virtual environment of its own.

use super::{Peer, debian};
use crate::cache::{Cache, make_folder, remove_folder};
use crate::failure::Failure;
use crate::process;
use std::fs;
use std::path::{Path, PathBuf};

const VERSION: &str = "3.260.0";

/// The SDK, as a virtual environment.
pub(crate) const PYTHON_SDK: Peer = Peer {
    name: "pulumi for Python",
    version: VERSION,
    purpose: "the tests that run Python programs and providers",
    variable: Some("DRYSTONE_PEER_PYTHON"),
    find,
    install,
};

/// The SDK and what it depends on.
const PACKAGES: &[&str] = &[
    "debugpy==1.8.22",
    "dill==0.4.1",
    "googleapis-common-protos==1.76.0",
    "grpcio==1.85.1",
    "opentelemetry-api==1.45.2",
    "opentelemetry-exporter-otlp-common==0.66b1",
    "opentelemetry-exporter-otlp-proto-common==1.45.1",
    "opentelemetry-exporter-otlp-proto-grpc==1.45.1",
    "opentelemetry-instrumentation==0.66b2",
    "opentelemetry-instrumentation-grpc==0.66b2",
    "opentelemetry-proto==1.45.1",
    "opentelemetry-sdk==1.45.2",
    "opentelemetry-semantic-conventions==0.66b2",
    "packaging==26.3",
    "protobuf==6.33.6",
    "pulumi==3.260.0",
    "PyYAML==6.0.3",
    "semver==3.1.1",
    "typing_extensions==4.16.0",
    "wrapt==2.5.2",
];

/// An environment cannot be moved, so it is built in its place and marked when it is whole.
pub(super) const WHOLE: &str = "whole";

fn find(cache: &Cache) -> Option<PathBuf> {
    let place = cache.peer("python-sdk", VERSION);
    let question = "from importlib.metadata import version; print(version('pulumi'))";
    let mut asked = process::command(place.join("bin").join("python"), ["-c", question]);
    let answer = process::output_of(&mut asked)?;
    (answer.trim() == VERSION && place.join(WHOLE).exists()).then_some(place)
}

fn install(cache: &Cache) -> Result<(), Failure> {
    environment(&cache.peer("python-sdk", VERSION), PACKAGES)
}

/// Makes a virtual environment with packages in it.
pub(super) fn environment(place: &Path, packages: &[&str]) -> Result<(), Failure> {
    let hint = "install Python 3.10 or newer with its venv module and put it on the PATH as python3";
    let asked = ["-c", "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 10))"];
    if process::output_of(&mut process::command("python3", asked)).is_none() {
        debian::install("Python", &["python3", "python3-venv"], hint)?;
    }
    remove_folder(place)?;
    make_folder(place)?;
    let mut venv = process::command("python3", ["-m", "venv"]);
    process::run(venv.arg(place)).map_err(|failure| failure.hint(hint))?;
    let mut pip = process::command(place.join("bin").join("python"), ["-m", "pip", "install", "--quiet"]);
    process::run(pip.arg("--disable-pip-version-check").args(packages))?;
    let whole = place.join(WHOLE);
    fs::write(&whole, "").map_err(|error| Failure::at(&whole, "write", &error))
}
