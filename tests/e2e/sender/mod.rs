//! The command line of senders and integrators: the real program over HTTP, with a key and nothing else.

mod listen;
mod push;
mod send;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pillarbox_tests::binary_path;
use serde_json::Value;

/// A folder with a file to upload.
struct Desk {
    folder: tempfile::TempDir,
}

/// What a command said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Said {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Desk {
    /// With this file as `people.csv`.
    fn with(content: &str) -> Self {
        let desk = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::write(desk.path("people.csv"), content).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The results, one row after the other without the headings; empty when there are none.
    fn results(&self) -> Vec<Vec<String>> {
        let Ok(mut reader) = csv::Reader::from_path(self.path("people.results.csv")) else {
            return Vec::new();
        };
        reader
            .records()
            .map_while(Result::ok)
            .map(|row| row.iter().map(str::to_owned).collect())
            .collect()
    }

    /// One column of the results.
    fn column(&self, index: usize) -> Vec<String> {
        self.results()
            .into_iter()
            .map(|row| row[index].clone())
            .collect()
    }

    /// The program in this folder, with a key and without any setting of ours.
    fn command(&self, url: &str, key: &str, arguments: &[&str]) -> Command {
        command(self.folder.path(), url, key, arguments)
    }

    /// Runs a command to its end.
    async fn run(&self, url: &str, key: &str, arguments: &[&str]) -> Said {
        let mut command = self.command(url, key, arguments);
        let output = tokio::task::spawn_blocking(move || command.output())
            .await
            .unwrap()
            .unwrap();
        let Output {
            status,
            stdout,
            stderr,
        } = output;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said {
            code: status.code(),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }
}

fn command(folder: &Path, url: &str, key: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary_path("pillarbox"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PILLARBOX_URL", url)
        .env("PILLARBOX_KEY", key)
        .stdin(Stdio::null());
    command
}

/// Presses Ctrl-C.
fn interrupt(child: &std::process::Child) {
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// People of these numbers as CSV, each at a house of its own.
fn people_file(numbers: std::ops::Range<usize>) -> String {
    let row =
        |number: usize| format!("c{number},Pat,Reader{number},{number} Main St,Austin,TX,78701\n");
    let rows: String = numbers.map(row).collect();
    format!("Customer ID,First Name,Last Name,Street Address,City,State,Zip Code\n{rows}")
}
