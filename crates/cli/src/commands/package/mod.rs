//! `package` and `schema`: the packages that programs use, and what they say of themselves.

mod add;
mod schema;

use crate::context::Context;
use crate::report::Outcome;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct PackageArgs {
    #[command(subcommand)]
    command: PackageCommand,
}

#[derive(Debug, Subcommand)]
enum PackageCommand {
    /// Add a package to the project
    Add(add::AddArgs),
    /// Print the schema of a package
    #[command(name = "get-schema")]
    GetSchema(schema::GetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    #[command(subcommand)]
    command: SchemaCommand,
}

#[derive(Debug, Subcommand)]
enum SchemaCommand {
    /// Print the schema of a package
    Get(schema::GetArgs),
}

pub(crate) async fn run(context: &Context, args: PackageArgs) -> Outcome {
    match args.command {
        PackageCommand::Add(args) => add::run(context, args).await,
        PackageCommand::GetSchema(args) => schema::get(context, &args).await,
    }
}

pub(crate) async fn schema(context: &Context, args: SchemaArgs) -> Outcome {
    match args.command {
        SchemaCommand::Get(args) => schema::get(context, &args).await,
    }
}
