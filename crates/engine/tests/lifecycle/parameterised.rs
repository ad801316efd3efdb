//! Packages that are made of a plugin by a parameter.

use crate::harness::{Log, P, Stack, TestProvider, program};
use drystone_engine::{
    Checked, InvokeRequest, MonitorError, PackageDescriptor, PackageRequest, PackageSource, Parameterization,
    ParameterizeArguments, Program, ReadRequest, Registered,
};
use std::sync::Arc;

fn parameter(name: &str, value: &str) -> Parameterization {
    Parameterization { name: name.into(), version: "0.5.0".into(), value: value.into() }
}

fn plugin() -> PackageDescriptor {
    PackageDescriptor { name: "pkgA".into(), version: "1.0.0".into(), ..PackageDescriptor::default() }
}

/// A package that takes the place of the plugin's own.
fn replacement() -> PackageRequest {
    let parameterization = Some(parameter("pkgExt", "replacement"));
    PackageRequest { package: PackageDescriptor { parameterization, ..plugin() }, extension: None }
}

/// A package that adds to the plugin's own.
fn extension(name: &str) -> PackageRequest {
    PackageRequest { package: plugin(), extension: Some(parameter(name, &format!("blob of {name}"))) }
}

/// A stack whose provider says what it is made of.
fn stack() -> (Stack, Log) {
    let log = Log::default();
    let said = log.clone();
    let provider = TestProvider {
        parameterize: Some(Arc::new(move |arguments| match arguments {
            ParameterizeArguments::Value(value) => {
                said.say(format!("replace {}", value.name));
                Ok((value.name, value.version))
            }
            ParameterizeArguments::Extension(value) => {
                said.say(format!("extend {} by {}", value.name, String::from_utf8(value.value).unwrap()));
                Ok((value.name, value.version))
            }
            ParameterizeArguments::Arguments(_) => panic!("not asked for"),
        })),
        ..TestProvider::default()
    };
    (Stack::with_provider("pkgA", provider), log)
}

async fn register(p: &P, package: &str, type_token: &str, name: &str) -> Result<Registered, MonitorError> {
    let mut resource = p.resource(type_token, name).input("size", 1);
    resource.request.package.reference = package.to_owned();
    resource.register().await
}

fn replaced() -> Arc<dyn Program> {
    program(|p| async move {
        let package = p.monitor.register_package(replacement()).await?;
        register(&p, &package, "pkgExt:m:T", "a").await?;
        Ok(())
    })
}

fn extended<const N: usize>(names: [&'static str; N]) -> Arc<dyn Program> {
    program(move |p| async move {
        for name in names {
            let package = p.monitor.register_package(extension(name)).await?;
            register(&p, &package, "pkgA:m:T", name).await?;
        }
        Ok(())
    })
}

#[test]
fn the_same_package_has_the_same_reference() {
    let (mut stack, _) = stack();
    stack
        .up(program(|p| async move {
            let plain = PackageRequest { package: plugin(), extension: None };
            let requests = [plain, replacement(), extension("x"), extension("y")];
            let mut references = Vec::new();
            for request in requests {
                let first = p.monitor.register_package(request.clone()).await?;
                assert_eq!(p.monitor.register_package(request).await?, first);
                assert!(!references.contains(&first));
                references.push(first);
            }
            Ok(())
        }))
        .ok();
}

#[test]
fn an_unknown_reference_is_refused() {
    let (mut stack, _) = stack();
    stack
        .up(program(|p| async move { register(&p, "nothing", "pkgA:m:T", "a").await.map(|_| ()) }))
        .failed("unknown provider package 'nothing'");
}

#[test]
fn a_package_reference_chooses_plugin_and_version() {
    let (mut stack, log) = stack();
    stack
        .up(program(|p| async move {
            let package =
                p.monitor.register_package(PackageRequest { package: plugin(), extension: None }).await?;
            register(&p, &package, "pkgA:m:T", "a").await?;
            Ok(())
        }))
        .ok();
    assert!(stack.resource("a").provider.contains("pulumi:providers:pkgA::default_1_0_0::"));
    assert!(log.take().is_empty());
}

#[test]
fn a_replacement_is_made_before_the_provider_is_used() {
    let (mut stack, log) = stack();
    stack.up(replaced()).ok();
    assert_eq!(log.take(), ["replace pkgExt"]);
    assert_eq!(stack.effects("pkgA"), ["create a"]);
    assert!(stack.resource("a").provider.contains("pulumi:providers:pkgExt::default_0_5_0::"));
}

#[test]
fn the_state_of_a_provider_says_what_it_is_made_of() {
    let (mut stack, _) = stack();
    stack.up(replaced()).ok();
    assert_eq!(
        stack.resource("default_0_5_0").inputs.text(),
        r#"{"__internal":{"name":"pkgA","parameterization":"cmVwbGFjZW1lbnQ=","version":"1.0.0"},"version":"0.5.0"}"#
    );
    assert_eq!(stack.resource("default_0_5_0").outputs.text(), r#"{"version":"0.5.0"}"#);
}

#[test]
fn a_replacement_is_made_again_from_the_state() {
    let (mut stack, log) = stack();
    stack.up(replaced()).ok();
    log.take();
    stack.refresh().ok();
    assert_eq!(log.take(), ["replace pkgExt"]);
    stack.destroy().ok();
    assert_eq!(log.take(), ["replace pkgExt"]);
    assert!(stack.snapshot.resources.is_empty());
}

#[test]
fn a_replacement_serves_invokes_and_reads() {
    let (mut stack, log) = stack();
    stack
        .up(program(|p| async move {
            let reference = p.monitor.register_package(replacement()).await?;
            let package = PackageSource { reference, ..PackageSource::default() };
            let invoke = InvokeRequest {
                token: "pkgExt:m:f".into(),
                package: package.clone(),
                ..InvokeRequest::default()
            };
            p.monitor.invoke(invoke).await?;
            let read = ReadRequest {
                type_token: "pkgExt:m:T".into(),
                name: "r".into(),
                id: "real".into(),
                package,
                ..ReadRequest::default()
            };
            assert!(p.monitor.read(read).await.is_err(), "nothing is there to be read");
            Ok(())
        }))
        .failed("resource 'real' does not exist");
    assert_eq!(log.take(), ["replace pkgExt"]);
}

#[test]
fn an_explicit_provider_can_be_one_of_a_replacement() {
    let (mut stack, _) = stack();
    stack
        .up(program(|p| async move {
            let reference = p.monitor.register_package(replacement()).await?;
            let mut provider =
                p.resource("pulumi:providers:pkgExt", "explicit").input("name", "its own setting");
            provider.request.package.reference = reference;
            let provider = provider.register().await?;
            p.resource("pkgExt:m:T", "a").provider(&provider).register().await?;
            Ok(())
        }))
        .ok();
    let explicit = stack.resource("explicit").inputs.text().to_owned();
    assert!(explicit.contains(r#""name":"its own setting""#) && explicit.contains(r#""name":"pkgA""#));
    assert!(stack.resource("a").provider.contains("::explicit::"));
}

#[test]
fn a_provider_never_sees_what_the_engine_keeps_for_itself() {
    let (mut stack, _) = stack();
    stack.providers.get_mut("pkgA").unwrap().check_config = Some(Arc::new(|arguments| {
        assert!(!arguments.new_inputs.contains_key("__internal"));
        Ok(Checked { properties: arguments.new_inputs, ..Checked::default() })
    }));
    stack.up(replaced()).ok();
    let configured = stack.calls("pkgA").into_iter().filter(|call| call.method == "configure");
    assert!(configured.map(|call| call.inputs).all(|inputs| !inputs.contains_key("__internal")));
}

#[test]
fn a_plugin_that_answers_with_another_package_is_refused() {
    let (mut stack, _) = stack();
    stack.providers.get_mut("pkgA").unwrap().parameterize =
        Some(Arc::new(|_| Ok(("other".into(), "1.0.0".into()))));
    stack.up(replaced()).failed("answered with the package other where pkgExt was asked for");
    stack.up(extended(["x"])).failed("does not match expected package \"x\"");
}

#[test]
fn another_version_of_a_replacement_is_another_provider() {
    let (mut stack, _) = stack();
    stack.up(replaced()).ok();
    stack
        .up(program(|p| async move {
            let mut request = replacement();
            request.package.parameterization.as_mut().unwrap().version = "0.6.0".into();
            let package = p.monitor.register_package(request).await?;
            register(&p, &package, "pkgExt:m:T", "a").await?;
            Ok(())
        }))
        .ok();
    assert!(stack.resource("a").provider.contains("::default_0_6_0::"));
    assert!(stack.find("default_0_5_0").is_none());
}

#[test]
fn an_extension_is_added_once_and_kept_in_the_state() {
    let (mut stack, log) = stack();
    stack.up(extended(["x", "y"])).ok();
    assert_eq!(log.take(), ["extend x by blob of x", "extend y by blob of y"]);
    let reference = stack.resource("x").extension_ref.clone();
    let kept = &stack.snapshot.extensions[&reference];
    assert_eq!((kept.name.as_str(), kept.version.as_str()), ("x", "0.5.0"));
    assert_eq!(kept.value.as_deref(), Some("YmxvYiBvZiB4"));
    assert_eq!(stack.resource("x").provider, stack.resource("y").provider, "one provider has both");
}

#[test]
fn the_reference_of_an_extension_is_a_hash_of_what_it_is() {
    let (mut stack, _) = stack();
    stack.up(extended(["x"])).ok();
    // sha256 of "x\0" "0.5.0\0" "blob of x"
    assert_eq!(
        stack.resource("x").extension_ref,
        "2b5e6218b7ad901a2334123355d9e0122a1064bf985e64b24162050d0e968567"
    );
}

#[test]
fn an_unchanged_program_extends_again_and_writes_nothing() {
    let (mut stack, log) = stack();
    stack.up(extended(["x"])).ok();
    log.take();
    let outcome = stack.up(extended(["x"])).ok();
    assert_eq!((log.take().len(), outcome.entries), (1, 0));
}

#[test]
fn an_extension_is_added_again_from_the_state() {
    let (mut stack, log) = stack();
    stack.up(extended(["x", "y"])).ok();
    log.take();
    stack.refresh().ok();
    assert_eq!(log.take().len(), 2);
    stack.up(program(|_| async move { Ok(()) })).ok();
    assert_eq!(log.take().len(), 2);
    assert!(stack.find("x").is_none());
}

#[test]
fn something_whose_extension_is_lost_cannot_be_deleted() {
    let (mut stack, _) = stack();
    stack.up(extended(["x"])).ok();
    stack.snapshot.extensions.clear();
    stack.destroy().failed("not found in snapshot");
    assert!(stack.find("x").is_some());
}

#[test]
fn something_imported_keeps_its_extension() {
    let (mut stack, log) = stack();
    stack.providers["pkgA"].cloud.lock().unwrap().insert("real".into(), drystone_engine::PropertyMap::new());
    stack
        .up(program(|p| async move {
            let package = p.monitor.register_package(extension("x")).await?;
            let mut resource = p.resource("pkgA:m:T", "a");
            resource.request.package.reference = package;
            resource.options(|options| options.import_id = "real".into()).register().await?;
            Ok(())
        }))
        .ok();
    assert!(!stack.resource("a").extension_ref.is_empty());
    log.take();
    stack.destroy().ok();
    assert_eq!(log.take(), ["extend x by blob of x"]);
}
