//! From the command line to the process's end.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use chrono::{DateTime, Utc};
use clap::CommandFactory;
use clap_complete::Shell;
use outbound::TargetPolicy;
use runtime::{Clock, Config};
use storage::Storage;
use store::Store;

use crate::addresses;
use crate::apply::{FILE_BYTES, apply_text, fetch_pictures};
use crate::command::{AddressesCommand, CliCommand, PillarboxArgs, PrintArgs, PrintRunCommand};
use crate::explain::{explain_code, find_told_code};
use crate::print::{PrintRequest, PrintRunner};
use crate::report::{CommandReport, FAILED, INTERRUPTED, NOT_KEPT};
use crate::sender_command::SenderCommand;
use crate::upload::{NotKept, UploadInterruptedError};
use crate::{demo, listen, migrate, operate, proof, push, send, text_file};

/// Does what was typed and writes the answer to the standard output. When it cannot be done it ends with one line on the
/// standard error and 1, 4 when the answer to a batch could not be kept, or 130 when it was stopped.
pub fn run(line: PillarboxArgs) -> ExitCode {
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start")
        .and_then(|runtime| runtime.block_on(execute_command(line.command, line.json)));
    match outcome.and_then(|report| write_report(&report, line.json)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("pillarbox: {}", describe_failure(&error));
            ExitCode::from(exit_code_of(&error))
        }
    }
}

/// One line; of a code of the service's with where to read more.
fn describe_failure(error: &anyhow::Error) -> String {
    let line = one_line(&format!("{error:#}"));
    match find_told_code(&line) {
        Some(code) => format!("{line} (`pillarbox explain {code}` says more)"),
        None => line,
    }
}

fn exit_code_of(error: &anyhow::Error) -> u8 {
    if error.is::<UploadInterruptedError>() {
        INTERRUPTED
    } else if error.is::<NotKept>() {
        NOT_KEPT
    } else {
        FAILED
    }
}

fn write_report(report: &CommandReport, is_json: bool) -> anyhow::Result<ExitCode> {
    match report.write(std::io::stdout().lock(), is_json) {
        // Whoever read the answer has seen enough of it.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        written => written.context("cannot write the answer")?,
    }
    Ok(ExitCode::from(report.exit_code()))
}

fn one_line(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

async fn execute_command(command: CliCommand, is_json: bool) -> anyhow::Result<CommandReport> {
    match command {
        // These need neither configuration nor database.
        CliCommand::Addresses(AddressesCommand::Parse) => {
            tokio::task::block_in_place(addresses::parse_stdin)
        }
        CliCommand::Completions { shell } => write_completions(shell),
        CliCommand::Explain { code } => explain_code(code.as_deref()),
        CliCommand::Sender(SenderCommand::Send(command)) => send::send_file(&command).await,
        CliCommand::Sender(SenderCommand::Push(command)) => push::push_file(&command).await,
        CliCommand::Sender(SenderCommand::Listen(command)) => {
            listen::listen_for_scans(&command, is_json).await
        }
        command => run_on_database(command).await,
    }
}

fn write_completions(shell: Shell) -> anyhow::Result<CommandReport> {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut PillarboxArgs::command(),
        "pillarbox",
        &mut script,
    );
    std::io::stdout()
        .write_all(&script)
        .context("cannot write the completions")?;
    Ok(CommandReport::empty())
}

/// What an operator does, with settings and mostly on the database.
async fn run_on_database(command: CliCommand) -> anyhow::Result<CommandReport> {
    let config = Config::load().context("configuration")?;
    let now = Clock::system().now();
    match command {
        CliCommand::Migrate {
            wait,
            without_groups,
        } => {
            migrate::migrate_database(
                &config.database.url,
                Duration::from_secs(wait),
                without_groups,
            )
            .await
        }
        CliCommand::Apply { file } => {
            let text = text_file::read_text(&file, FILE_BYTES)?;
            let policy = TargetPolicy::new(&config.outbound.allowed_networks);
            let store = open_store(&config).await?;
            let mut applied = apply_text(&store, &text, folder_of(&file), &policy, now).await?;
            fetch_pictures(&config, &store, &mut applied).await?;
            applied.report()
        }
        CliCommand::Team(command) => {
            operate::team::run_command(&open_store(&config).await?, command, now).await
        }
        CliCommand::User(command) => {
            operate::user::run_command(&open_store(&config).await?, command, now).await
        }
        CliCommand::Key(command) => {
            operate::key::run_command(&open_store(&config).await?, command, now).await
        }
        CliCommand::TopUp {
            team,
            amount,
            reference,
        } => {
            let store = open_store(&config).await?;
            operate::balance::top_up(&store, &team, amount, &reference, now).await
        }
        CliCommand::TopUpRequests { after, limit } => {
            operate::balance::list_top_up_requests(&open_store(&config).await?, after, limit).await
        }
        CliCommand::Balance { team } => {
            operate::balance::show_balance(&open_store(&config).await?, &team).await
        }
        CliCommand::Campaign(command) => {
            operate::campaign::run_command(&open_store(&config).await?, command, now).await
        }
        CliCommand::Endpoint(command) => {
            operate::endpoint::run_command(&open_store(&config).await?, &config, command, now).await
        }
        CliCommand::Recipient(command) => {
            operate::recipient::run_command(&open_store(&config).await?, command, now).await
        }
        CliCommand::Addresses(command) => run_addresses(command, &config, now).await,
        CliCommand::Integration(command) => {
            operate::integration::run_command(&open_store(&config).await?, command, now).await
        }
        CliCommand::Sync(command) => {
            operate::sync::run_command(&open_store(&config).await?, command, &config, now).await
        }
        CliCommand::AddressBook { team } => {
            operate::address_book::write_entries(&open_store(&config).await?, &team, now).await
        }
        CliCommand::Print(PrintArgs {
            command: Some(PrintRunCommand::HandedOver(args)),
            ..
        }) => operate::postal_scan::hand_over(&open_store(&config).await?, &args, now).await,
        CliCommand::Print(command) => run_print(command, &config).await,
        CliCommand::Returned(command) => {
            operate::returned::run_command(&open_store(&config).await?, command, now).await
        }
        CliCommand::Scans(command) => {
            operate::postal_scan::run_command(&open_store(&config).await?, command, now).await
        }
        CliCommand::Proof(command) => proof::make_proofs(&config, &command, now).await,
        CliCommand::Parked(command) => operate::parked::run_command(&config, command).await,
        CliCommand::Check => {
            operate::check::check_rules(&open_store(&config).await?, &config, now).await
        }
        CliCommand::Demo(demo) => demo::post_recipients(&demo).await,
        CliCommand::Sender(_) | CliCommand::Completions { .. } | CliCommand::Explain { .. } => {
            bail!("this command needs no settings")
        }
    }
}

async fn run_print(command: PrintArgs, config: &Config) -> anyhow::Result<CommandReport> {
    runtime::install_crypto();
    let PrintArgs {
        product,
        mail_by,
        retry,
        ..
    } = command;
    let printer = PrintRunner {
        store: open_store(config).await?,
        storage: Storage::new(&config.storage)?,
        settings: config.print.clone(),
        clock: Clock::system(),
    };
    printer
        .print(&PrintRequest {
            product,
            mail_by,
            retry,
        })
        .await?
        .report()
}

async fn run_addresses(
    command: AddressesCommand,
    config: &Config,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        AddressesCommand::Parse => addresses::parse_stdin(),
        AddressesCommand::Verify { strictness } => {
            addresses::verify_stdin(config, strictness.map(Into::into)).await
        }
        AddressesCommand::Import { files, again } => {
            addresses::import::import_files(&open_store(config).await?, &files, again, now).await
        }
        AddressesCommand::Override(command) => {
            addresses::run_override(&open_store(config).await?, command, now).await
        }
    }
}

/// The database, when its tables are those of this program.
pub(crate) async fn open_store(config: &Config) -> anyhow::Result<Store> {
    let store = Store::new(&config.database).context("database")?;
    if !store.find_schema_version().await?.is_current() {
        bail!("the database's tables are not those of this program: run `pillarbox migrate` first");
    }
    Ok(store)
}

/// Where the paths in a file begin.
fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}
