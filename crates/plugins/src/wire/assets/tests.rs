//! The expected hashes are those that Pulumi's own SDK computes for the same content.

use super::{add_hashes, lacks_hashes};
use crate::wire::Properties;
use drystone_model::{Archive, ArchiveSource, Asset, AssetSource, Value};
use flate2::{Compression, write::DeflateEncoder, write::GzEncoder};
use std::{fs, io::Write, path::Path};

pub(super) fn asset(source: AssetSource) -> Value {
    Value::Asset(Asset { hash: String::new(), source })
}

pub(super) fn text(text: &str) -> Value {
    asset(AssetSource::Text(text.to_owned()))
}

pub(super) fn archive(source: ArchiveSource) -> Value {
    Value::Archive(Archive { hash: String::new(), source })
}

pub(super) fn of_assets<K: Into<String>>(assets: impl IntoIterator<Item = (K, Value)>) -> Value {
    archive(ArchiveSource::Assets(assets.into_iter().map(|(name, asset)| (name.into(), asset)).collect()))
}

pub(super) fn hash_in(directory: &Path, value: Value) -> Result<String, String> {
    let mut properties = Properties::from([("v".to_owned(), value)]);
    assert!(lacks_hashes(&properties));
    add_hashes(&mut properties, directory).map_err(|error| error.to_string())?;
    assert!(!lacks_hashes(&properties));
    match properties.remove("v") {
        Some(Value::Asset(asset)) => Ok(asset.hash),
        Some(Value::Archive(archive)) => Ok(archive.hash),
        other => panic!("{other:?}"),
    }
}

fn hash(value: Value) -> String {
    hash_in(Path::new("/"), value).unwrap()
}

#[test]
fn archives_of_assets_have_the_hash_of_their_tar_file() {
    assert_eq!(
        hash(of_assets::<&str>([])),
        "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
    );
    assert_eq!(
        hash(of_assets([("b.txt", text("hello")), ("a/b", text(""))])),
        "b5e753b6a7b21de4e8683c76c7cd75a1f4c4fac157272f3da1631990652ab6b0"
    );
    assert_eq!(
        hash(of_assets([("big", text(&"0123456789".repeat(100)))])),
        "c9beae9c8c80acbc00d7571bc623ac2571cc0f9a135aab0e7b321430990d30ab"
    );
}

#[test]
fn names_that_the_old_tar_header_cannot_hold_are_kept_whole() {
    let named = |name: String| hash(of_assets([(name, text("x"))]));
    assert_eq!(
        named(format!("{}/{}", "d".repeat(90), "f".repeat(60))),
        "e45ab4c0dea66d44b4507801debd0f3590e180978e82743f6ee15e602856561c"
    );
    assert_eq!(named("n".repeat(120)), "4edae971477175b68bfaae1bff7876eca066f070f2da55c367628310f36632bb");
    assert_eq!(
        named(format!("{}/{}", "n".repeat(99), "n".repeat(120))),
        "7ee61942dcb55b65270002db5e86fa630a419737aa5476083578e4cfbd5cb69a"
    );
    assert_eq!(
        named("dir/é.txt".to_owned()),
        "8855c2b33a548ed3abf3cafc8d92328cfe4280bf89aac2126ce3f6fe296cd04c"
    );
}

/// A folder with a file, two folders whose order shows how names are sorted, links, and bookkeeping.
fn tree(root: &Path) {
    let tree = root.join("tree");
    for folder in ["sub", "sub-x", ".pulumi"] {
        fs::create_dir_all(tree.join(folder)).unwrap();
    }
    fs::write(tree.join("b.txt"), "bbb").unwrap();
    fs::write(tree.join("sub/one"), "one\n").unwrap();
    fs::write(tree.join("sub-x/two"), "two\n").unwrap();
    fs::write(tree.join(".pulumi/x"), "no\n").unwrap();
    std::os::unix::fs::symlink("../b.txt", tree.join("sub/link")).unwrap();
    std::os::unix::fs::symlink("sub", tree.join("dirlink")).unwrap();
}

fn path(path: &str) -> Value {
    archive(ArchiveSource::Path(path.to_owned()))
}

#[test]
fn folders_leave_out_bookkeeping_and_links_to_folders() {
    let root = tempfile::tempdir().unwrap();
    tree(root.path());
    assert_eq!(
        hash_in(root.path(), path("tree")).unwrap(),
        "6d26d256e4358ab7bc520b28c8985970859fe71de87ea3a1dd092661a15d5f1f"
    );
    assert_eq!(
        hash_in(root.path(), of_assets([("in", path("tree")), ("t", text("t"))])).unwrap(),
        "8a9e97c61eb2b34232019f619e8a059a4cebfb5f9f70ff6129aecfb2f18c785e"
    );
    assert_eq!(
        hash_in(root.path(), asset(AssetSource::Path("tree/b.txt".into()))).unwrap(),
        "3e744b9dc39389baf0c5a0660589b8402f3dbb49b89b3e75f2c9355852a3c677"
    );
    let uri = format!("file://{}/tree/b.txt", root.path().display());
    assert_eq!(
        hash(asset(AssetSource::Uri(uri))),
        "3e744b9dc39389baf0c5a0660589b8402f3dbb49b89b3e75f2c9355852a3c677"
    );
}

fn tar_file() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut tar = super::tar::TarWriter::new(&mut bytes);
    tar.add("./dir/x", 2, &mut "xx".as_bytes()).unwrap();
    tar.add(&"n".repeat(130), 9, &mut "long name".as_bytes()).unwrap();
    tar.finish().unwrap();
    bytes
}

/// One empty folder, one stored file, one compressed file.
pub(super) fn zip_file() -> Vec<u8> {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    deflated.write_all("y".repeat(1000).as_bytes()).unwrap();
    let deflated = deflated.finish().unwrap();
    let members: [(&str, u16, &[u8], u32); 3] =
        [("dir/", 0, b"", 0), ("dir/x", 0, b"xx", 2), ("y", 8, &deflated, 1000)];
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, method, data, size) in members {
        let start = u32::try_from(file.len()).unwrap();
        let common = [
            method.to_le_bytes().as_slice(),
            &[0; 8],
            &u32::try_from(data.len()).unwrap().to_le_bytes(),
            &size.to_le_bytes(),
            &u16::try_from(name.len()).unwrap().to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        file.extend([b"PK\x03\x04".as_slice(), &[20, 0, 0, 0], &common, name.as_bytes(), data].concat());
        directory.extend(
            [
                b"PK\x01\x02".as_slice(),
                &[20, 0, 20, 0, 0, 0],
                &common,
                &[0; 10],
                &start.to_le_bytes(),
                name.as_bytes(),
            ]
            .concat(),
        );
    }
    let start = u32::try_from(file.len()).unwrap();
    let size = u32::try_from(directory.len()).unwrap();
    file.extend(directory);
    file.extend([b"PK\x05\x06".as_slice(), &[0, 0, 0, 0, 3, 0, 3, 0]].concat());
    file.extend([size.to_le_bytes().as_slice(), &start.to_le_bytes(), &[0; 2]].concat());
    file
}

#[test]
fn archive_files_are_hashed_whole_alone_and_unpacked_inside_others() {
    let root = tempfile::tempdir().unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&tar_file()).unwrap();
    fs::write(root.path().join("a.tar"), tar_file()).unwrap();
    fs::write(root.path().join("a.tar.gz"), gzip.finish().unwrap()).unwrap();
    fs::write(root.path().join("a.zip"), zip_file()).unwrap();

    let inside = |file| hash_in(root.path(), of_assets([("in", path(file)), ("t", text("t"))])).unwrap();
    let from_tar = "e02a8e4e736104db2adf828bbdd839657e1ed8b11a00c4748842d23722c81fcc";
    assert_eq!(inside("a.tar"), from_tar);
    assert_eq!(inside("a.tar.gz"), from_tar);
    assert_eq!(inside("a.zip"), "7ecd28e43cde8f499e78d53861093c01dd80933fdb372cf98fc25679272d5fce");

    let whole = hash_in(root.path(), path("a.zip")).unwrap();
    assert_eq!(whole, hash_in(root.path(), asset(AssetSource::Path("a.zip".into()))).unwrap());
}

#[test]
fn damaged_archive_files_are_an_error() {
    let root = tempfile::tempdir().unwrap();
    let whole = zip_file();
    for cut in [0, 10, 40, whole.len() - 30, whole.len() - 1] {
        fs::write(root.path().join("a.zip"), &whole[..cut]).unwrap();
        let error = hash_in(root.path(), of_assets([("in", path("a.zip"))])).unwrap_err();
        assert!(error.contains("property `v`: failed to compute the archive hash"), "{error}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let root = tempfile::tempdir().unwrap();
    let nested = Value::array([Value::object([("a", asset(AssetSource::Path("gone".into())))])]);
    let mut properties = Properties::from([("v".to_owned(), nested)]);
    let error = add_hashes(&mut properties, root.path()).unwrap_err().to_string();
    assert!(
        error.starts_with("property `v[0].a`: failed to compute the asset hash: cannot open '"),
        "{error}"
    );
    let folder = hash_in(root.path(), asset(AssetSource::Path(".".into()))).unwrap_err();
    assert!(folder.contains("is a directory; try an archive"), "{folder}");
    let other =
        hash_in(root.path(), asset(AssetSource::Uri("ftp://ana:sesame@example.com/x".into()))).unwrap_err();
    assert!(other.contains("'ftp://example.com/x': it is neither http(s)://"), "{other}");
}
