//! The real binaries and servers of their own, to be killed.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::database::settings_for;
use crate::logs::{KeptLog, log_file};

/// Where `./dev test` has put a tool of the tests.
///
/// # Panics
/// Without `./dev test`.
pub fn tool_folder(name: &str) -> PathBuf {
    let tools = std::env::var("PILLARBOX_TOOLS").expect("PILLARBOX_TOOLS is set by ./dev test");
    Path::new(&tools).join(name)
}

/// The operator's command line among the binaries.
const COMMAND_LINE: &str = "pillarbox";

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// What a private server is.
#[derive(Debug, Clone, Copy)]
pub enum ServerKind {
    /// PostgreSQL.
    Postgres,
    /// RabbitMQ.
    Rabbitmq,
}

/// A private server in a folder of its own; it is removed at the end.
pub struct PrivateServer {
    kind: ServerKind,
    folder: PathBuf,
    /// How to reach it.
    pub url: String,
}

impl ServerKind {
    /// Where an action on such a server in this folder begins.
    fn command(self, action: &str, folder: &Path) -> Command {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/local/server.sh");
        let kind = match self {
            Self::Postgres => "postgres",
            Self::Rabbitmq => "rabbitmq",
        };
        let mut command = Command::new(script);
        command.args([action, kind]).arg(folder);
        command
    }
}

impl PrivateServer {
    /// Starts a new, empty server.
    pub fn start(kind: ServerKind) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("pillarbox-test-{}-{number}", std::process::id()));
        Self::start_in(kind, folder)
    }

    /// The same in this folder.
    pub fn start_in(kind: ServerKind, folder: PathBuf) -> Self {
        let mut server = Self {
            kind,
            folder,
            url: String::new(),
        };
        server.url = server.run_action("start");
        server
    }

    /// Does `start`, `stop`, `kill`, `restart` or `wipe`; returns what the command printed.
    pub fn run_action(&self, action: &str) -> String {
        self.run_control(action, &[])
    }

    /// Runs the server's own client, `psql` or `rabbitmqctl`, with these words; returns what it printed.
    pub fn run_client(&self, words: &[&str]) -> String {
        self.run_control("control", words)
    }

    fn run_control(&self, action: &str, words: &[&str]) -> String {
        let output = self
            .kind
            .command(action, &self.folder)
            .args(words)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .expect("the server's command runs");
        assert!(
            output.status.success(),
            "{action} of {:?} failed",
            self.kind
        );
        String::from_utf8(output.stdout)
            .expect("text")
            .trim()
            .to_owned()
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Not through `act`: a panic while unwinding would hide the first one.
        let _ = self.kind.command("remove", &self.folder).status();
    }
}

/// A process of ours; it is killed at the end.
pub struct SpawnedProcess {
    child: Child,
}

impl SpawnedProcess {
    /// Starts the binary `name` with these settings; `fail_point` is where it dies.
    pub fn start(name: &str, settings: &HashMap<String, String>, fail_point: Option<&str>) -> Self {
        Self::start_with(name, &[], settings, fail_point)
    }

    /// The same with arguments.
    pub fn start_with(
        name: &str,
        arguments: &[&str],
        settings: &HashMap<String, String>,
        fail_point: Option<&str>,
    ) -> Self {
        // What the command line writes is its answer to whoever asked, which is no log.
        let log = if name == COMMAND_LINE {
            None
        } else {
            log_file(name)
        };
        Self::spawn(name, arguments, settings, fail_point, log)
    }

    /// Starts the binary `name` with these settings, and keeps its log.
    pub fn start_logged(name: &str, settings: &HashMap<String, String>) -> (Self, KeptLog) {
        let (file, log) = KeptLog::new(name);
        (Self::spawn(name, &[], settings, None, Some(file)), log)
    }

    fn spawn(
        name: &str,
        arguments: &[&str],
        settings: &HashMap<String, String>,
        fail_point: Option<&str>,
        log: Option<File>,
    ) -> Self {
        let mut command = Command::new(binaries_folder().join(name));
        command
            .args(arguments)
            .env_remove("PILLARBOX_FAIL_POINT")
            .env("PILLARBOX__ADMIN__LISTEN", "127.0.0.1:0")
            // As in the image.
            .env("MALLOC_ARENA_MAX", "2")
            .env("MALLOC_MMAP_THRESHOLD_", "131072")
            .envs(settings_for(name, settings))
            .stdin(Stdio::null())
            .stdout(log.map_or_else(Stdio::null, Stdio::from));
        if let Some(point) = fail_point {
            command.env("PILLARBOX_FAIL_POINT", point);
        }
        Self {
            child: command
                .spawn()
                .unwrap_or_else(|error| panic!("{name} cannot be started: {error}")),
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it with SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Tells it to stop with SIGTERM and waits for its end; true when it ended well.
    pub fn terminate(&mut self) -> bool {
        let _ = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        self.child.wait().is_ok_and(|status| status.success())
    }

    /// Waits until it ends by itself; true when it ended well.
    pub fn wait(&mut self) -> bool {
        self.child.wait().is_ok_and(|status| status.success())
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }
}

/// Runs the operator's command line with these settings to its end; returns what it wrote to the standard output.
pub fn run_operator_command(arguments: &[&str], settings: &HashMap<String, String>) -> String {
    let output = Command::new(binaries_folder().join(COMMAND_LINE))
        .args(arguments)
        .envs(settings)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "{arguments:?} failed");
    String::from_utf8(output.stdout).expect("text")
}

/// The binary `name`, as it was built.
pub fn binary_path(name: &str) -> PathBuf {
    binaries_folder().join(name)
}

/// Where cargo puts the binaries: beside a program that it built as one, above a test, which lies in `deps`.
fn binaries_folder() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    let folder = program.parent().expect("a program lies in a folder");
    if folder.ends_with("deps") {
        folder.parent().expect("deps lies in a folder")
    } else {
        folder
    }
    .to_owned()
}

impl Drop for SpawnedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ports from which tests give real processes theirs: below those that the system gives to outgoing connections, one of
/// which may otherwise take the port in between.
const FIRST_PORT: u16 = 10_000;

/// A port of this machine that nobody listens on.
pub fn find_free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let offset = std::process::id().wrapping_mul(97) % 9_000;
    (0..1_000)
        .map(|_| {
            FIRST_PORT
                + u16::try_from((offset + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000)
                    .expect("it fits")
        })
        .find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port")
}
