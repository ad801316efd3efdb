//! The package managers that programs are installed with: pnpm and yarn from npm, uv and Poetry from PyPI.

use super::{Peer, node_sdk, python_sdk};
use crate::cache::Cache;
use crate::failure::Failure;
use crate::process;
use std::path::PathBuf;

const PNPM: &str = "9.15.9";
const YARN: &str = "1.22.22";
const UV: &str = "0.13.7";
const POETRY: &str = "2.5.1";

/// pnpm and yarn, as a folder that has their programs in `node_modules/.bin`.
pub(crate) const NODE_MANAGERS: Peer = Peer {
    name: "pnpm and yarn",
    version: "9.15.9 and 1.22.22",
    purpose: "the tests of Node.js programs that they install",
    variable: Some("DRYSTONE_PEER_NODE_MANAGERS"),
    find: find_node,
    install: install_node,
};

/// uv and Poetry, as a virtual environment.
pub(crate) const PYTHON_MANAGERS: Peer = Peer {
    name: "uv and Poetry",
    version: "0.13.7 and 2.5.1",
    purpose: "the tests of Python programs that they install",
    variable: Some("DRYSTONE_PEER_PYTHON_MANAGERS"),
    find: find_python,
    install: install_python,
};

/// uv, Poetry and what it depends on.
const PACKAGES: &[&str] = &[
    "anyio==4.16.0",
    "backports.tarfile==1.2.0",
    "backports.zstd==1.8.0",
    "build==1.6.1",
    "CacheControl==0.14.4",
    "certifi==2026.10.18",
    "cffi==2.1.1",
    "charset-normalizer==3.5.2",
    "cleo==2.1.0",
    "crashtest==0.4.1",
    "cryptography==50.0.2",
    "distlib==0.4.4",
    "dulwich==1.2.21",
    "fastjsonschema==2.22.3",
    "filelock==4.2.10",
    "findpython==0.8.0",
    "h11==0.16.0",
    "httpcore2==2.16.0",
    "httpx2==2.16.0",
    "idna==3.20",
    "importlib_metadata==10.2.0",
    "installer==1.1.0",
    "jaraco.classes==3.4.0",
    "jaraco.context==6.1.2",
    "jaraco.functools==4.6.0",
    "jeepney==0.9.0",
    "keyring==25.7.0",
    "lazy-importer==0.1.0",
    "more-itertools==11.2.1",
    "msgpack==1.2.4",
    "packaging==26.3",
    "pbs-installer==2026.10.25",
    "pkginfo==1.13.3",
    "platformdirs==4.14.5",
    "poetry==2.5.1",
    "poetry-core==2.5.0",
    "pycparser==3.12",
    "pyproject_hooks==1.3.3",
    "python-discovery==1.9.5",
    "RapidFuzz==3.14.6",
    "requests==2.34.2",
    "requests-toolbelt==1.0.0",
    "SecretStorage==3.5.0",
    "shellingham==1.5.4",
    "tomlkit==0.15.2",
    "trove-classifiers==2026.9.21.13",
    "truststore==0.10.5",
    "typing_extensions==4.16.0",
    "urllib3==2.8.0",
    "uv==0.13.7",
    "virtualenv==21.15.6",
    "zipp==4.1.2",
];

fn find_node(cache: &Cache) -> Option<PathBuf> {
    let place = cache.peer("node-managers", PNPM);
    for (name, version) in [("pnpm", PNPM), ("yarn", YARN)] {
        let program = place.join("node_modules").join(".bin").join(name);
        let answer = process::output_of(&mut process::command(program, ["--version"]))?;
        if answer.trim() != version {
            return None;
        }
    }
    Some(place)
}

fn install_node(cache: &Cache) -> Result<(), Failure> {
    let manifest = format!(
        "{{ \"private\": true, \"dependencies\": {{ \"pnpm\": \"{PNPM}\", \"yarn\": \"{YARN}\" }} }}\n"
    );
    node_sdk::modules(cache, "node-managers", PNPM, &manifest)
}

fn find_python(cache: &Cache) -> Option<PathBuf> {
    let place = cache.peer("python-managers", POETRY);
    let question = "from importlib.metadata import version; print(version('uv'), version('poetry'))";
    let mut asked = process::command(place.join("bin").join("python"), ["-c", question]);
    let answer = process::output_of(&mut asked)?;
    let is_whole = answer.trim() == format!("{UV} {POETRY}") && place.join(python_sdk::WHOLE).exists();
    is_whole.then_some(place)
}

fn install_python(cache: &Cache) -> Result<(), Failure> {
    python_sdk::environment(&cache.peer("python-managers", POETRY), PACKAGES)
}
