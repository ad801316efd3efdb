//! A policy pack served over loopback, asked through [`GrpcAnalyzer`].

use super::{AnalyzerOptions, GrpcAnalyzer, PackError, PolicySettings};
use crate::languages::PolicyRun;
use crate::monitor::Endpoint;
use crate::proto::pulumirpc as rpc;
use crate::wire::Struct;
use drystone_engine::{
    AnalyzedOptions, AnalyzedProvider, AnalyzedResource, Analyzer, Cancellation, EnforcementLevel,
    PolicySeverity, PropertyMap, Timeouts,
};
use drystone_model::{Computed, Urn, Value};
use rpc::analyzer_server::{Analyzer as Service, AnalyzerServer};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Endpoint as Address, Server};
use tonic::{Request, Response, Status};

type Answer<T> = Result<Response<T>, Status>;

/// A pack whose answers a test chooses.
#[derive(Clone, Default)]
struct Served {
    info: rpc::AnalyzerInfo,
    analyzed: Option<Result<rpc::AnalyzeResponse, Status>>,
    remediated: Option<Result<rpc::RemediateResponse, Status>>,
    /// Whether it is too old for a handshake and for the stack's configuration.
    old: bool,
    told: Arc<Mutex<Told>>,
}

/// What a pack was told.
#[derive(Default)]
struct Told {
    methods: Vec<&'static str>,
    handshake: Option<rpc::AnalyzerHandshakeRequest>,
    stack: Option<rpc::AnalyzerStackConfigureRequest>,
    configured: Option<rpc::ConfigureAnalyzerRequest>,
    asked: Option<rpc::AnalyzeRequest>,
    asked_of_stack: Option<rpc::AnalyzeStackRequest>,
}

impl Served {
    fn told(&self, method: &'static str, note: impl FnOnce(&mut Told)) {
        let mut told = self.told.lock().unwrap();
        told.methods.push(method);
        note(&mut told);
    }
}

#[tonic::async_trait]
impl Service for Served {
    async fn handshake(
        &self,
        request: Request<rpc::AnalyzerHandshakeRequest>,
    ) -> Answer<rpc::AnalyzerHandshakeResponse> {
        self.told("handshake", |told| told.handshake = Some(request.into_inner()));
        if self.old { Err(Status::unimplemented("no")) } else { Ok(Response::new(Default::default())) }
    }

    async fn configure_stack(
        &self,
        request: Request<rpc::AnalyzerStackConfigureRequest>,
    ) -> Answer<rpc::AnalyzerStackConfigureResponse> {
        self.told("configure_stack", |told| told.stack = Some(request.into_inner()));
        if self.old { Err(Status::unimplemented("no")) } else { Ok(Response::new(Default::default())) }
    }

    async fn get_analyzer_info(&self, _: Request<()>) -> Answer<rpc::AnalyzerInfo> {
        self.told("info", |_| {});
        Ok(Response::new(self.info.clone()))
    }

    async fn configure(&self, request: Request<rpc::ConfigureAnalyzerRequest>) -> Answer<()> {
        self.told("configure", |told| told.configured = Some(request.into_inner()));
        Ok(Response::new(()))
    }

    async fn analyze(&self, request: Request<rpc::AnalyzeRequest>) -> Answer<rpc::AnalyzeResponse> {
        self.told("analyze", |told| told.asked = Some(request.into_inner()));
        self.analyzed.clone().unwrap_or_else(|| Ok(rpc::AnalyzeResponse::default())).map(Response::new)
    }

    async fn analyze_stack(
        &self,
        request: Request<rpc::AnalyzeStackRequest>,
    ) -> Answer<rpc::AnalyzeResponse> {
        self.told("analyze_stack", |told| told.asked_of_stack = Some(request.into_inner()));
        self.analyzed.clone().unwrap_or_else(|| Err(Status::unimplemented("no"))).map(Response::new)
    }

    async fn remediate(&self, request: Request<rpc::AnalyzeRequest>) -> Answer<rpc::RemediateResponse> {
        self.told("remediate", |told| told.asked = Some(request.into_inner()));
        self.remediated.clone().unwrap_or_else(|| Err(Status::unimplemented("no"))).map(Response::new)
    }
}

fn run() -> PolicyRun {
    PolicyRun {
        organization: "organization".to_owned(),
        project: "shop".to_owned(),
        stack: "dev".to_owned(),
        config: BTreeMap::from([("shop:key".to_owned(), "hush".to_owned())]),
        secret_keys: BTreeSet::from(["shop:key".to_owned()]),
        tags: BTreeMap::from([("team".to_owned(), "red".to_owned())]),
        dry_run: true,
    }
}

/// Serves a pack and connects to it.
async fn connect(served: &Served, version: Option<&str>) -> Result<GrpcAnalyzer, PackError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = AnalyzerServer::new(served.clone());
    tokio::spawn(
        Server::builder().add_service(service).serve_with_incoming(TcpListenerStream::new(listener)),
    );
    let channel = Address::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
    let options = AnalyzerOptions {
        named: "packs/guard".to_owned(),
        folder: "/packs/guard".into(),
        version: version.map(str::to_owned),
        endpoint: Endpoint::new("127.0.0.1:1"),
        cancellation: Cancellation::default(),
    };
    GrpcAnalyzer::connect(channel, options, &run(), None).await
}

fn block<T>(future: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(future)
}

fn object(value: &serde_json::Value) -> Struct {
    Struct::from_json(value.as_object().unwrap())
}

fn policy(name: &str, level: rpc::EnforcementLevel) -> rpc::PolicyInfo {
    rpc::PolicyInfo { name: name.to_owned(), enforcement_level: level.into(), ..Default::default() }
}

/// A pack with two policies, one of which takes settings.
fn configurable() -> Served {
    let schema = rpc::PolicyConfigSchema {
        properties: Some(object(&json!({
            "most": { "type": "integer", "default": 3, "maximum": 9 },
            "zone": { "type": "string" },
        }))),
        required: vec!["zone".to_owned()],
    };
    let sized =
        rpc::PolicyInfo { config_schema: Some(schema), ..policy("sized", rpc::EnforcementLevel::Mandatory) };
    Served {
        info: rpc::AnalyzerInfo {
            name: "guard".to_owned(),
            version: "0.1.0".to_owned(),
            supports_config: true,
            policies: vec![sized, policy("named", rpc::EnforcementLevel::Advisory)],
            initial_config: HashMap::from([(
                "sized".to_owned(),
                rpc::PolicyConfig {
                    enforcement_level: rpc::EnforcementLevel::Remediate.into(),
                    properties: Some(object(&json!({ "most": 5 }))),
                },
            )]),
            ..Default::default()
        },
        ..Served::default()
    }
}

fn settings(value: &serde_json::Value) -> PolicySettings {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), value.to_string()).unwrap();
    PolicySettings::load(file.path()).unwrap()
}

fn resource() -> AnalyzedResource {
    AnalyzedResource {
        urn: Urn::new("urn:pulumi:dev::shop::my:c:C$a:b:T::thing"),
        properties: PropertyMap::from([
            ("key".to_owned(), Value::secret(Value::from("hush"))),
            ("later".to_owned(), Value::Computed(Computed::String)),
            ("__defaults".to_owned(), Value::from("own")),
        ]),
        options: AnalyzedOptions {
            protect: true,
            delete_before_replace: Some(false),
            timeouts: Timeouts { create: 1.5, ..Timeouts::default() },
            parent: Urn::new("urn:pulumi:dev::shop::my:c:C::parent"),
            ..AnalyzedOptions::default()
        },
        provider: Some(AnalyzedProvider {
            urn: Urn::new("urn:pulumi:dev::shop::pulumi:providers:a::default"),
            properties: PropertyMap::from([
                ("version".to_owned(), Value::from("1.0.0")),
                ("__internal".to_owned(), Value::from("own")),
            ]),
        }),
        dependencies: vec![Urn::new("urn:pulumi:dev::shop::a:b:T::other")],
        property_dependencies: BTreeMap::from([
            ("key".to_owned(), vec![Urn::new("urn:pulumi:dev::shop::a:b:T::other")]),
            ("later".to_owned(), Vec::new()),
        ]),
    }
}

#[test]
fn a_pack_hears_where_it_is_of_the_stack_and_then_says_what_it_holds() {
    let served = configurable();
    let analyzer = block(connect(&served, Some("2.0.0"))).unwrap();
    let told = served.told.lock().unwrap();
    assert_eq!(told.methods, ["handshake", "configure_stack", "info"]);
    let handshake = told.handshake.as_ref().unwrap();
    assert_eq!(handshake.root_directory.as_deref(), Some("/packs/guard"));
    assert_eq!(handshake.engine_address, "127.0.0.1:1");
    let stack = told.stack.as_ref().unwrap();
    assert_eq!((stack.stack.as_str(), stack.dry_run, &stack.tags["team"]), ("dev", true, &"red".to_owned()));
    assert_eq!(
        (&stack.config["shop:key"], &stack.config_secret_keys[0]),
        (&"hush".into(), &"shop:key".into())
    );
    let pack = analyzer.pack();
    assert_eq!(
        (pack.name.as_str(), pack.version.as_str(), pack.folder.as_str()),
        ("guard", "2.0.0", "packs/guard")
    );
}

#[test]
fn an_old_pack_that_knows_neither_is_taken_as_it_is() {
    let served = Served { old: true, ..configurable() };
    assert_eq!(block(connect(&served, None)).unwrap().pack().version, "0.1.0");
}

#[test]
fn settings_are_the_packs_own_then_what_it_begins_with_then_the_file() {
    let served = configurable();
    block(async {
        let mut analyzer = connect(&served, None).await.unwrap();
        let given = settings(&json!({ "all": "disabled", "sized": { "zone": "n" }, "stranger": "advisory" }));
        assert_eq!(analyzer.configure(Some(given)).await.unwrap(), ["stranger"]);
        assert!(analyzer.pack().policies.iter().all(|policy| policy.level == EnforcementLevel::Disabled));
        let given = settings(&json!({ "sized": { "zone": "n" } }));
        analyzer.configure(Some(given)).await.unwrap();
        assert_eq!(analyzer.pack().policies[0].level, EnforcementLevel::Remediate);
    });
    let told = served.told.lock().unwrap();
    let configured = &told.configured.as_ref().unwrap().policy_config;
    let properties = configured["sized"].properties.as_ref().unwrap().to_json().unwrap();
    assert_eq!(serde_json::Value::from(properties), json!({ "most": 5, "zone": "n" }));
    assert_eq!(configured["sized"].enforcement_level(), rpc::EnforcementLevel::Remediate);
    assert_eq!(configured["named"].enforcement_level(), rpc::EnforcementLevel::Advisory);
}

#[test]
fn settings_that_the_pack_does_not_take_are_refused_with_all_that_is_wrong() {
    let served = configurable();
    let refused = block(async {
        let mut analyzer = connect(&served, None).await.unwrap();
        analyzer.configure(Some(settings(&json!({ "sized": { "most": 10 } })))).await
    });
    let PackError::Settings { problems, .. } = refused.unwrap_err() else { panic!("another error") };
    assert_eq!(problems, ["sized: most: Must be less than or equal to 9", "sized: zone is required"]);
    assert!(!served.told.lock().unwrap().methods.contains(&"configure"));
}

#[test]
fn a_pack_without_settings_takes_none_and_is_not_configured() {
    let mut served = configurable();
    served.info.supports_config = false;
    block(async {
        let mut analyzer = connect(&served, None).await.unwrap();
        analyzer.configure(None).await.unwrap();
        let refused = analyzer.configure(Some(PolicySettings::default())).await.unwrap_err();
        assert!(refused.to_string().contains("takes no settings"));
    });
    assert!(!served.told.lock().unwrap().methods.contains(&"configure"));
}

#[test]
fn a_resource_is_told_with_its_secrets_and_options_and_without_what_is_the_engines_own() {
    let served = configurable();
    block(async {
        let analyzer = connect(&served, None).await.unwrap();
        analyzer.analyze(&resource()).await.unwrap();
        let asked = served.told.lock().unwrap().asked.take().unwrap();
        assert_eq!((asked.r#type.as_str(), asked.name.as_str()), ("a:b:T", "thing"));
        let properties = asked.properties.unwrap().to_json().unwrap();
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["key", "later"]);
        assert_eq!(properties["key"]["value"], "hush");
        assert_eq!(properties["later"], "04da6b54-80e4-46f7-96ec-b56ff0331ba9");
        let options = asked.options.unwrap();
        assert!(options.protect && options.delete_before_replace_defined && !options.delete_before_replace);
        assert!((options.custom_timeouts.unwrap().create - 1.5).abs() < f64::EPSILON);
        let provider = asked.provider.unwrap();
        assert_eq!(provider.r#type, "pulumi:providers:a");
        assert_eq!(provider.properties.unwrap().to_json().unwrap().len(), 1);

        analyzer.remediate(&resource()).await.unwrap();
        let asked = served.told.lock().unwrap().asked.take().unwrap();
        assert!(
            asked.properties.unwrap().to_json().unwrap().contains_key("__defaults"),
            "all of it comes back"
        );

        analyzer.analyze_stack(&[resource()]).await.unwrap();
        let asked = served.told.lock().unwrap().asked_of_stack.take().unwrap();
        let asked = &asked.resources[0];
        assert_eq!(asked.parent, "urn:pulumi:dev::shop::my:c:C::parent");
        assert_eq!((asked.dependencies.len(), asked.property_dependencies.len()), (1, 1));
    });
}

#[test]
fn a_violation_takes_its_severity_and_version_from_the_pack_when_it_has_none() {
    let mut served = configurable();
    served.info.policies[0].set_severity(rpc::PolicySeverity::High);
    let said = |policy: &str, severity: rpc::PolicySeverity| rpc::AnalyzeDiagnostic {
        policy_name: policy.to_owned(),
        policy_pack_version: "0.1.0".to_owned(),
        enforcement_level: rpc::EnforcementLevel::Mandatory.into(),
        severity: severity.into(),
        ..Default::default()
    };
    served.analyzed = Some(Ok(rpc::AnalyzeResponse {
        diagnostics: vec![
            said("sized", rpc::PolicySeverity::Unspecified),
            said("sized", rpc::PolicySeverity::Low),
        ],
        not_applicable: vec![rpc::PolicyNotApplicable { policy_name: "named".into(), reason: String::new() }],
    }));
    let analyzed =
        block(async { connect(&served, Some("2.0.0")).await.unwrap().analyze(&resource()).await }).unwrap();
    let severities: Vec<_> = analyzed.violations.iter().map(|violation| violation.severity).collect();
    assert_eq!(severities, [PolicySeverity::High, PolicySeverity::Low]);
    assert_eq!(
        (analyzed.violations[0].name.version.as_str(), &analyzed.not_applicable[0]),
        ("2.0.0", &"named".into())
    );
}

#[test]
fn answers_that_make_no_sense_and_refusals_are_told_as_such() {
    let mut served = configurable();
    let mut failed = |analyzed, remediated: Option<_>| {
        (served.analyzed, served.remediated) = (Some(analyzed), remediated);
        block(async {
            let analyzer = connect(&served, None).await.unwrap();
            let failed = match served.remediated {
                Some(_) => analyzer.remediate(&resource()).await.unwrap_err(),
                None => analyzer.analyze(&resource()).await.unwrap_err(),
            };
            failed.0
        })
    };
    let diagnostic = rpc::AnalyzeDiagnostic { enforcement_level: 9, ..Default::default() };
    let odd = rpc::AnalyzeResponse { diagnostics: vec![diagnostic], not_applicable: Vec::new() };
    assert_eq!(
        failed(Ok(odd), None),
        "the answer of the policy pack 'packs/guard' makes no sense: 9 is not an enforcement level"
    );
    assert_eq!(failed(Err(Status::unknown("a bug in a policy")), None), "a bug in a policy");
    assert_eq!(
        failed(Err(Status::internal("")), None),
        "the policy pack 'packs/guard' failed: Internal error"
    );
    let signature = json!({ "odd": { "4dabf18193072939515e22adb298388d": "0123" } });
    let remediation = rpc::Remediation { properties: Some(object(&signature)), ..Default::default() };
    let remediated = rpc::RemediateResponse { remediations: vec![remediation], not_applicable: Vec::new() };
    let said = failed(Ok(rpc::AnalyzeResponse::default()), Some(Ok(remediated)));
    assert!(said.contains("makes no sense: property `odd`"), "{said}");
}

#[test]
fn files_of_settings_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let load = |text: &str| {
        let path = folder.path().join("settings.json");
        std::fs::write(&path, text).unwrap();
        PolicySettings::load(&path)
    };
    assert_eq!(load(" \n").unwrap(), PolicySettings::default());
    assert_eq!(load(r#"{"a": {}, "environments": []}"#).unwrap(), PolicySettings::default());
    for (text, says) in [
        ("[]", "are not a JSON object"),
        ("{\n \"a\": ", "line 2"),
        (r#"{"a": 3}"#, "3 is not a valid value; must be a string or object"),
        (r#"{"a": "sometimes"}"#, "\"sometimes\" is not a valid enforcement level"),
        (r#"{"a": {"enforcementLevel": 3}}"#, "3 is not a valid enforcement level; must be a string"),
        (r#"{"environments": ["prod"]}"#, "only Pulumi Cloud has"),
    ] {
        let error = load(text).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("settings.json"), "{text}: {error}");
    }
    assert!(
        PolicySettings::load(&folder.path().join("none")).unwrap_err().to_string().contains("cannot be read")
    );
}
