//! What a process is started with: nothing. Its settings come from a file and the environment.

use std::process::ExitCode;

/// What the arguments ask for.
#[derive(Debug, PartialEq, Eq)]
enum StartupAction {
    /// To run.
    Run,
    /// To say this and end.
    Tell(String),
    /// Something that there is not.
    Refuse(String),
}

/// Answers what was asked on the command line of the process `name`. `None` when it is to run.
pub(crate) fn handle_arguments(
    name: &str,
    arguments: impl Iterator<Item = String>,
) -> Option<ExitCode> {
    use std::io::Write;
    match parse_arguments(name, arguments) {
        StartupAction::Run => None,
        StartupAction::Tell(text) => {
            // Nobody reads it then.
            let _ = writeln!(std::io::stdout(), "{text}");
            Some(ExitCode::SUCCESS)
        }
        StartupAction::Refuse(text) => {
            eprintln!("{text}");
            Some(ExitCode::from(2))
        }
    }
}

fn parse_arguments(name: &str, mut arguments: impl Iterator<Item = String>) -> StartupAction {
    match arguments.next().as_deref() {
        None => StartupAction::Run,
        Some("-h" | "--help") => StartupAction::Tell(format_help(name)),
        Some("-V" | "--version") => {
            StartupAction::Tell(format!("{name} {}", env!("CARGO_PKG_VERSION")))
        }
        Some(other) => StartupAction::Refuse(format!(
            "{name}: unexpected argument {other:?}\n\n{}",
            format_help(name)
        )),
    }
}

fn format_help(name: &str) -> String {
    format!(
        "usage: {name} [--help] [--version]\n\n\
         Runs Pillarbox's {name} until it is told to stop (SIGTERM or SIGINT). It takes no arguments: the file that\n\
         PILLARBOX_CONFIG names overrides the defaults, and the environment overrides both, as in\n\
         PILLARBOX__DATABASE__URL=postgres://... or PILLARBOX__ADMIN__LISTEN=127.0.0.1:9000."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_for_gateway(arguments: &[&str]) -> StartupAction {
        parse_arguments(
            "gateway",
            arguments.iter().map(|argument| (*argument).to_owned()),
        )
    }

    #[test]
    fn only_without_arguments_does_a_process_run() {
        assert_eq!(parse_for_gateway(&[]), StartupAction::Run);
        assert!(
            matches!(parse_for_gateway(&["--help"]), StartupAction::Tell(text) if text.starts_with("usage: gateway"))
        );
        assert!(
            matches!(parse_for_gateway(&["--version"]), StartupAction::Tell(text) if text.starts_with("gateway "))
        );
        for stray in ["help", "--port=80", "", "-x"] {
            assert!(
                matches!(parse_for_gateway(&[stray]), StartupAction::Refuse(text) if text.contains("usage: gateway")),
                "{stray}"
            );
        }
    }
}
