//! `team`.

use accounts::create_team;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use model::id::TeamId;
use serde_json::json;
use store::{Actor, PaymentKind, Store, Team};

use crate::command::TeamCommand;
use crate::report::{CommandReport, build_table};

/// Does one of the commands on teams.
pub(crate) async fn run_command(
    store: &Store,
    command: TeamCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        TeamCommand::Create { name, time_zone } => {
            create_named_team(store, name.as_str(), time_zone, now).await
        }
        TeamCommand::List { after, limit } => list_teams(store, &after, limit).await,
    }
}

async fn create_named_team(
    store: &Store,
    name: &str,
    time_zone: Tz,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let wanted = Team {
        team_id: TeamId::new(),
        name: name.to_owned(),
        time_zone,
        payment: PaymentKind::Balance,
        stripe_customer: None,
        stripe_payment_method: None,
    };
    let team_id = create_team(store, Actor::Operator, &wanted, now).await?;
    CommandReport::new(
        &json!({ "team_id": team_id, "name": name }),
        format!("Made the team {name} with the id {team_id}."),
    )
}

async fn list_teams(store: &Store, after: &str, limit: i64) -> anyhow::Result<CommandReport> {
    let teams = store.list_teams(after, limit).await?;
    let mut rows = build_table(["Name", "Id", "Time zone", "Pays by"]);
    for team in &teams {
        rows.add_row([
            team.name.as_str(),
            &team.team_id.to_string(),
            team.time_zone.name(),
            team.payment.as_str(),
        ]);
    }
    CommandReport::new(&json!({ "teams": teams }), rows.trim_fmt())
}
