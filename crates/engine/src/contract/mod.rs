//! What the engine takes from outside and gives to it: traits for what it drives, types for what passes through.

mod event;
mod goal;
mod import;
mod journal;
mod monitor;
mod options;
mod policy;
mod program;
mod provider;
mod run;
mod state;
mod surroundings;
mod target;

pub use event::{
    Debugging, Diagnostic, Event, EventSink, Progress, ProgressKind, Severity, StepEvent, StepView, Summary,
};
pub use goal::{
    Alias, AliasParent, CallRequest, HookBindings, HookMoment, InvokeRequest, PackageSource, ReadRequest,
    RegisterRequest, Registered, Registration, ResourceOptions, Timeouts,
};
pub use import::{Import, Imported};
pub use journal::{Journal, JournalError};
pub use monitor::{
    HookRegistration, Monitor, MonitorError, MonitorErrorKind, PackageRequest, ResourceMonitor,
    ViewPublisher, ViewState, ViewStep,
};
pub use options::{ConfigValue, Operation, Options, RefreshMode};
pub use policy::{
    Analyzed, AnalyzedOptions, AnalyzedProvider, AnalyzedResource, Analyzer, EnforcementLevel, Policy,
    PolicyEvent, PolicyName, PolicyPack, PolicyQuestion, PolicyScope, PolicySeverity, PolicySummary,
    Remediated, Remediation, Violation,
};
pub use program::{
    ErrorHook, Failed, Hook, HookCall, InvokeTransform, Program, ProgramError, StackReader, Transform,
    TransformedInvoke,
};
pub use provider::{
    AppliedState, Autonaming, CallAnswer, CallArguments, CheckArguments, CheckFailure, Checked,
    ConfigureArguments, ConstructArguments, Constructed, CreateArguments, DeleteArguments, Diff,
    DiffArguments, DiffChanges, DiffKind, Invoked, PackageDescriptor, Parameterization,
    ParameterizeArguments, Plugins, PropertyDiff, Provider, ProviderError, ProviderErrorKind, ReadArguments,
    ReadState, RunInfo, UpdateArguments,
};
pub use run::{Ending, Report, Run};
pub use state::{PropertyMap, State};
pub use surroundings::{CancelLevel, Cancellation, Surroundings, SystemSurroundings};
pub use target::Targets;
