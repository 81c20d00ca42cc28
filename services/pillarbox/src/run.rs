//! From the command line to the process's end.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use chrono::{DateTime, Utc};
use clap::CommandFactory;
use clap_complete::Shell;
use outbound::Policy;
use service::{Clock, Config};
use storage::Storage;
use store::Store;

use crate::addresses;
use crate::apply::{FILE_BYTES, apply, fetch_pictures};
use crate::command::{AddressesCommand, Command, CommandLine, PrintCommand};
use crate::print::{PrintRequest, Printer};
use crate::report::{FAILED, INTERRUPTED, NOT_KEPT, Report};
use crate::sender_command::SenderCommand;
use crate::upload::{Interrupted, NotKept};
use crate::{demo, listen, migrate, operate, proof, push, send, text_file};

/// Does what was typed and writes the answer to the standard output. When it cannot be done it ends with one line on the
/// standard error and 1, 4 when the answer to a batch could not be kept, or 130 when it was stopped.
pub fn run(line: CommandLine) -> ExitCode {
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start")
        .and_then(|runtime| runtime.block_on(execute(line.command, line.json)));
    match outcome.and_then(|report| write(&report, line.json)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("pillarbox: {}", one_line(&format!("{error:#}")));
            ExitCode::from(code_of(&error))
        }
    }
}

fn code_of(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() {
        INTERRUPTED
    } else if error.is::<NotKept>() {
        NOT_KEPT
    } else {
        FAILED
    }
}

fn write(report: &Report, is_json: bool) -> anyhow::Result<ExitCode> {
    match report.write(std::io::stdout().lock(), is_json) {
        // Whoever read the answer has seen enough of it.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        written => written.context("cannot write the answer")?,
    }
    Ok(ExitCode::from(report.code()))
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

async fn execute(command: Command, is_json: bool) -> anyhow::Result<Report> {
    match command {
        // These need neither configuration nor database.
        Command::Addresses(AddressesCommand::Parse) => tokio::task::block_in_place(addresses::parse),
        Command::Completions { shell } => completions(shell),
        Command::Sender(SenderCommand::Send(command)) => send::send(&command).await,
        Command::Sender(SenderCommand::Push(command)) => push::push(&command).await,
        Command::Sender(SenderCommand::Listen(command)) => listen::listen(&command, is_json).await,
        command => on_database(command).await,
    }
}

fn completions(shell: Shell) -> anyhow::Result<Report> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "pillarbox", &mut script);
    std::io::stdout().write_all(&script).context("cannot write the completions")?;
    Ok(Report::nothing())
}

/// What an operator does, with settings and mostly on the database.
async fn on_database(command: Command) -> anyhow::Result<Report> {
    let config = Config::load().context("configuration")?;
    let now = Clock::system().now();
    match command {
        Command::Migrate { wait, without_groups } => {
            migrate::migrate(&config.database.url, Duration::from_secs(wait), without_groups).await
        }
        Command::Apply { file } => {
            let text = text_file::read(&file, FILE_BYTES)?;
            let policy = Policy::new(&config.outbound.allowed_networks);
            let store = open(&config).await?;
            let mut applied = apply(&store, &text, folder_of(&file), &policy, now).await?;
            fetch_pictures(&config, &store, &mut applied).await?;
            applied.report()
        }
        Command::Team(command) => operate::team::run(&open(&config).await?, command, now).await,
        Command::User(command) => operate::user::run(&open(&config).await?, command, now).await,
        Command::Key(command) => operate::key::run(&open(&config).await?, command, now).await,
        Command::TopUp { team, amount, reference } => {
            let store = open(&config).await?;
            operate::balance::top_up(&store, &team, amount, reference.as_str(), now).await
        }
        Command::TopUpRequests { after, limit } => {
            operate::balance::requests(&open(&config).await?, after, limit).await
        }
        Command::Balance { team } => operate::balance::show(&open(&config).await?, &team).await,
        Command::Campaign(command) => operate::campaign::run(&open(&config).await?, command, now).await,
        Command::Endpoint(command) => {
            operate::endpoint::run(&open(&config).await?, &config, command, now).await
        }
        Command::Recipient(command) => operate::recipient::run(&open(&config).await?, command, now).await,
        Command::Addresses(command) => on_addresses(command, &config, now).await,
        Command::Integration(command) => operate::integration::run(&open(&config).await?, command, now).await,
        Command::Sync(command) => operate::sync::run(&open(&config).await?, command, &config, now).await,
        Command::AddressBook { team } => {
            operate::address_book::write(&open(&config).await?, &team, now).await
        }
        Command::Print(command) => on_print(command, &config).await,
        Command::Proof(command) => proof::proof(&config, &command, now).await,
        Command::Parked(command) => operate::parked::run(&config, command).await,
        Command::Check => operate::check::check(&open(&config).await?, &config, now).await,
        Command::Demo(demo) => demo::post(&demo).await,
        Command::Sender(_) | Command::Completions { .. } => bail!("this command needs no settings"),
    }
}

async fn on_print(command: PrintCommand, config: &Config) -> anyhow::Result<Report> {
    service::install_crypto();
    let PrintCommand { product, mail_by, retry } = command;
    let printer = Printer {
        store: open(config).await?,
        storage: Storage::new(&config.storage)?,
        settings: config.print.clone(),
        clock: Clock::system(),
    };
    printer.print(&PrintRequest { product, mail_by, retry }).await?.report()
}

async fn on_addresses(
    command: AddressesCommand,
    config: &Config,
    now: DateTime<Utc>,
) -> anyhow::Result<Report> {
    match command {
        AddressesCommand::Parse => addresses::parse(),
        AddressesCommand::Verify { strictness } => {
            addresses::verify(config, strictness.map(Into::into)).await
        }
        AddressesCommand::Import { files, again } => {
            addresses::import::import(&open(config).await?, &files, again, now).await
        }
        AddressesCommand::Override(command) => addresses::overrides(&open(config).await?, command, now).await,
    }
}

/// The database, when its tables are those of this program.
pub(crate) async fn open(config: &Config) -> anyhow::Result<Store> {
    let store = Store::new(&config.database).context("database")?;
    if !store.schema_version().await?.is_current() {
        bail!("the database's tables are not those of this program: run `pillarbox migrate` first");
    }
    Ok(store)
}

/// Where the paths in a file begin.
fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}
