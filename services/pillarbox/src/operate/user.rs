//! `user`.

use std::io::{BufRead, IsTerminal};

use accounts::{NewMember, save_member};
use anyhow::{Context, bail};
use chrono::{DateTime, Utc};
use serde_json::json;
use store::{Actor, MemberRole, Store};

use super::find_team;
use crate::apply::{DisplayName, NormalizedEmail};
use crate::command::MemberCommand;
use crate::report::{CommandReport, build_table};
use secret::Password;

/// The variable that a password is read from.
const PASSWORD_VARIABLE: &str = "PILLARBOX_PASSWORD";

/// Bytes of standard input that are read for a password.
const PASSWORD_BYTES: u64 = 4096;

/// Does one of the commands on people.
pub(crate) async fn run_command(
    store: &Store,
    command: MemberCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        MemberCommand::Create {
            team,
            email,
            name,
            role,
        } => create_member(store, &team, &email, &name, role.into(), now).await,
        MemberCommand::List { team } => list_members(store, &team).await,
        MemberCommand::SetPassword { email } => set_password(store, &email, now).await,
    }
}

async fn create_member(
    store: &Store,
    team: &str,
    email: &NormalizedEmail,
    name: &DisplayName,
    role: MemberRole,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let team = find_team(store, team).await?;
    let member = NewMember {
        team_id: team.team_id,
        email,
        name,
        role,
    };
    let user_id = save_member(store, Actor::Operator, member, now).await?;
    let text = format!("{} is {} of {}.", email.as_str(), role.as_str(), team.name);
    CommandReport::new(
        &json!({ "user_id": user_id, "email": email.as_str(), "role": role }),
        text,
    )
}

async fn list_members(store: &Store, team: &str) -> anyhow::Result<CommandReport> {
    let users = store
        .list_member_summaries(find_team(store, team).await?.team_id)
        .await?;
    let mut rows = build_table(["Email", "Name", "Role", "Id"]);
    for user in &users {
        rows.add_row([
            user.email.as_str(),
            &user.name,
            user.role.as_str(),
            &user.user_id.to_string(),
        ]);
    }
    CommandReport::new(&json!({ "users": users }), rows.trim_fmt())
}

async fn set_password(
    store: &Store,
    email: &NormalizedEmail,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let hash = read_password(email)?
        .hash()
        .context("cannot hash the password")?;
    accounts::set_password(store, Actor::Operator, email, &hash, now).await?;
    CommandReport::new(
        &json!({ "email": email.as_str() }),
        format!("{} has a new password.", email.as_str()),
    )
}

/// From the environment or the first line of standard input: never from the command line, which every user of the
/// machine can see, and never from a terminal, which would show it.
fn read_password(email: &NormalizedEmail) -> anyhow::Result<Password> {
    let text = match std::env::var(PASSWORD_VARIABLE) {
        Ok(text) => text,
        Err(_) if std::io::stdin().is_terminal() => {
            bail!("set {PASSWORD_VARIABLE} or pipe the password into the standard input")
        }
        Err(_) => first_line(std::io::stdin().lock())?,
    };
    Password::choose(text, email.as_str()).map_err(anyhow::Error::msg)
}

fn first_line(input: impl BufRead) -> anyhow::Result<String> {
    let mut line = String::new();
    input
        .take(PASSWORD_BYTES)
        .read_line(&mut line)
        .context("cannot read the password")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_the_first_line_with_its_spaces() {
        assert_eq!(
            first_line(" correct horse \r\nsecond".as_bytes()).unwrap(),
            " correct horse "
        );
        assert_eq!(first_line("no line end".as_bytes()).unwrap(), "no line end");
        assert!(first_line([0xff, b'\n'].as_slice()).is_err());
        let endless = std::io::BufReader::new(std::io::repeat(b'a'));
        assert_eq!(first_line(endless).unwrap().len(), 4096);
    }
}
