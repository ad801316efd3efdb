//! How long a large program takes.

use crate::stack::Stack;
use async_trait::async_trait;
use drystone_engine::{
    CallAnswer, CallRequest, Diagnostic, ErrorHook, HookRegistration, InvokeRequest, InvokeTransform,
    Invoked, MonitorError, PackageDescriptor, PackageRequest, Program, PropertyMap, ReadRequest,
    RegisterRequest, Registered, ResourceMonitor, Transform, ViewStep,
};
use drystone_model::{Urn, Value};
use drystone_yaml::YamlProgram;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A program of so many resources, each with a few values and a text with values in it; every tenth starts a chain.
fn program(count: usize) -> String {
    let mut program = "variables: { region: eu-west-1 }\nresources:\n".to_owned();
    for at in 0..count {
        let text = if at % 10 == 0 { "start".to_owned() } else { format!("after ${{r{}.id}}", at - 1) };
        let _ = write!(
            program,
            "  r{at}:\n    type: shelf:Thing\n    properties:\n      text: {text} in ${{region}}\n      count: {at}\n      \
             tags: {{ name: r{at}, stack: '${{pulumi.stack}}' }}\n      value: {{ list: [a, b, {{ c: d }}], flag: true }}\n"
        );
    }
    program
}

/// The time that this process has had of all processors.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// An engine that takes everything for done, so that only the language is measured.
#[derive(Default)]
struct Nothing(AtomicUsize);

#[async_trait]
impl ResourceMonitor for Nothing {
    async fn register(&self, request: RegisterRequest) -> Result<Registered, MonitorError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let urn = Urn::build("dev", "shop", "", &request.type_token, &request.name);
        let mut properties = request.properties;
        properties.insert("token".to_owned(), Value::from("t"));
        Ok(Registered { urn, id: format!("id-{}", request.name), properties, ..Registered::default() })
    }
    async fn register_outputs(&self, _: &Urn, _: PropertyMap) -> Result<(), MonitorError> {
        Ok(())
    }
    async fn read(&self, _: ReadRequest) -> Result<Registered, MonitorError> {
        Err(MonitorError::closing())
    }
    async fn invoke(&self, _: InvokeRequest) -> Result<Invoked, MonitorError> {
        Err(MonitorError::closing())
    }
    async fn call(&self, _: CallRequest) -> Result<CallAnswer, MonitorError> {
        Err(MonitorError::closing())
    }
    fn require_packages(&self, _: Vec<PackageDescriptor>) -> Result<(), MonitorError> {
        Ok(())
    }
    async fn register_package(&self, _: PackageRequest) -> Result<String, MonitorError> {
        Err(MonitorError::closing())
    }
    fn add_stack_transform(&self, _: Arc<dyn Transform>) -> Result<(), MonitorError> {
        Ok(())
    }
    fn add_stack_invoke_transform(&self, _: Arc<dyn InvokeTransform>) -> Result<(), MonitorError> {
        Ok(())
    }
    fn add_hook(&self, _: String, _: HookRegistration) -> Result<(), MonitorError> {
        Ok(())
    }
    fn add_error_hook(&self, _: String, _: Arc<dyn ErrorHook>) -> Result<(), MonitorError> {
        Ok(())
    }
    async fn finish(&self) {}
    fn log(&self, diagnostic: Diagnostic) {
        panic!("{}", diagnostic.message);
    }
    fn root(&self) -> Urn {
        Urn::default()
    }
    async fn publish_views(&self, _: &str, _: Vec<ViewStep>) -> Result<(), MonitorError> {
        Ok(())
    }
    async fn schema(&self, _: &PackageDescriptor) -> Result<String, MonitorError> {
        Ok(include_str!("shelf.json").to_owned())
    }
}

/// Reads, checks and evaluates 5,000 resources, and prints what that takes; the bound is the one of a release build:
/// `cargo test --release -p drystone-yaml --test language speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn five_thousand_resources() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("Pulumi.yaml"),
        format!("name: shop\nruntime: yaml\n{}", program(5000)),
    )
    .unwrap();
    let program = YamlProgram {
        directory: folder.path().to_owned(),
        root: folder.path().to_owned(),
        project: "shop".to_owned(),
        stack: "dev".to_owned(),
        ..YamlProgram::default()
    };
    let text = std::fs::read_to_string(folder.path().join("Pulumi.yaml")).unwrap();
    let before = processor_time();
    let root = drystone_yaml::syntax::parse(&text).unwrap();
    let parsed = processor_time();
    let (template, _) = drystone_yaml::template::Template::read(&root);
    assert_eq!(template.resources.len(), 5000);
    println!("of it parsing {:?}, reading {:?}", parsed - before, processor_time() - parsed);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let monitor = Arc::new(Nothing::default());
    let (start, before) = (Instant::now(), processor_time());
    runtime.block_on(program.run(Arc::clone(&monitor) as Arc<dyn ResourceMonitor>)).unwrap();
    let (wall, processor) = (start.elapsed(), processor_time() - before);
    println!("5,000 resources in YAML: {processor:?} of processor time, {wall:?} of wall time");
    assert_eq!(monitor.0.load(Ordering::SeqCst), 5001);
    // Only a build for release says how fast it is.
    assert!(cfg!(debug_assertions) || processor < Duration::from_millis(500), "{processor:?}");
}

#[test]
fn a_thousand_resources_are_previewed() {
    let mut stack = Stack::new(&program(1000));
    stack.preview().ok();
}
