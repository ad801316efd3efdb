use super::*;
use crate::process;
use std::path::Path;

fn generate(folder: &Path) -> State {
    State::generate(&folder.join("pristine"), 3, 300).unwrap()
}

fn rewrite(backend: &Path, edit: impl FnOnce(&mut Vec<serde_json::Value>)) {
    let path = current(backend);
    let mut checkpoint: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    edit(checkpoint["checkpoint"]["latest"]["resources"].as_array_mut().unwrap());
    fs::write(path, checkpoint.to_string()).unwrap();
}

#[test]
fn a_sound_stack_is_sorted_and_a_shuffled_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let state = generate(folder.path());
    let backend = folder.path().join("backend");
    state.lay_out(&backend, Order::Sound).unwrap();
    state.check_is_sorted(&backend).unwrap();
    state.lay_out(&backend, Order::Shuffled).unwrap();
    state.check_is_sorted(&backend).unwrap_err();
}

#[test]
fn a_lost_resource_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let state = generate(folder.path());
    let backend = folder.path().join("backend");
    state.lay_out(&backend, Order::Sound).unwrap();
    state.check_leaf_is_gone(&backend).unwrap_err();
    rewrite(&backend, |resources| resources.truncate(299));
    state.check_leaf_is_gone(&backend).unwrap();
    state.check_is_sorted(&backend).unwrap_err();
    rewrite(&backend, |resources| {
        resources.remove(7);
    });
    state.check_leaf_is_gone(&backend).unwrap_err();
}

#[test]
fn the_same_seed_gives_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let generated = |name: &str, seed| {
        let state = State::generate(&folder.path().join(name), seed, 120).unwrap();
        fs::read(state.checkpoint(Order::Shuffled)).unwrap()
    };
    assert_eq!(generated("a", 3), generated("b", 3));
    assert_ne!(generated("a", 3), generated("c", 4));
}

#[test]
#[ignore = "needs the stock Pulumi CLI: run by cargo xtask test"]
fn the_stock_cli_opens_what_is_generated_and_writes_it_back_the_same() {
    let pulumi = std::env::var_os("DRYSTONE_PEER_PULUMI").expect("DRYSTONE_PEER_PULUMI is not set");
    let folder = tempfile::tempdir().unwrap();
    let state = generate(folder.path());
    let (backend, project) = (folder.path().join("backend"), folder.path().join("project"));
    write_project(&project).unwrap();
    state.lay_out(&backend, Order::Sound).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = process::command(&pulumi, arguments);
        command.args(["--stack", STACK]).current_dir(&project);
        command.env("PULUMI_HOME", folder.path().join("home"));
        command.env("PULUMI_BACKEND_URL", format!("file://{}", backend.display()));
        command.env("PULUMI_CONFIG_PASSPHRASE", super::super::seal::PASSPHRASE);
        command.env("PULUMI_SKIP_UPDATE_CHECK", "true");
        process::output_of(&mut command).unwrap_or_else(|| panic!("pulumi {arguments:?} failed"))
    };

    let exported: serde_json::Value =
        serde_json::from_str(&run(&["stack", "export", "--show-secrets"])).unwrap();
    let resources = exported["deployment"]["resources"].as_array().unwrap();
    let secrets = exported.to_string().matches("\"plaintext\"").count();
    assert_eq!((resources.len(), secrets > 50), (300, true), "{secrets} secrets");

    let leaf = state.leaf();
    let before = resources_of(&backend);
    run(&["state", "delete", &leaf, "--yes"]);
    state.check_leaf_is_gone(&backend).unwrap();
    let after = resources_of(&backend);
    let changed: Vec<_> =
        before.iter().zip(&after).filter(|(before, after)| masked(before) != masked(after)).collect();
    assert_eq!(changed.first(), None, "{} resources were written otherwise", changed.len());
}

/// The resources of a backend as text, in the order of the file.
fn resources_of(backend: &Path) -> Vec<String> {
    let checkpoint: serde_json::Value = serde_json::from_slice(&fs::read(current(backend)).unwrap()).unwrap();
    let resources = checkpoint["checkpoint"]["latest"]["resources"].as_array().unwrap();
    resources.iter().map(ToString::to_string).collect()
}

/// A resource's text without its ciphertexts, which are sealed anew on every write.
fn masked(text: &str) -> String {
    let mut pieces = text.split("\"ciphertext\":\"");
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        masked.push_str(piece.split_once('"').map_or(piece, |(_, rest)| rest));
    }
    masked
}
