//! `top-up`, `top-up-requests` and `balance`.

use accounts::{BalanceCredit, credit_balance};
use chrono::{DateTime, SecondsFormat, Utc};
use model::id::TopUpRequestId;
use model::name::DisplayName;
use serde_json::json;
use store::{Actor, Store};

use super::find_team;
use crate::money::{DollarAmount, Money};
use crate::report::{CommandReport, build_table};

/// Adds to a team's balance, once per reference.
pub(crate) async fn top_up(
    store: &Store,
    team: &str,
    amount: Money,
    reference: &DisplayName,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let team = find_team(store, team).await?;
    let credit = BalanceCredit {
        team_id: team.team_id,
        amount,
        reference,
    };
    let booked = credit_balance(store, Actor::Operator, &credit, now).await?;
    let reference = reference.as_str();
    let balance = DollarAmount(booked.balance_cents);
    let text = if booked.is_new {
        format!("Added {amount} to {}. Its balance is {balance}.", team.name)
    } else {
        format!(
            "{reference} was booked before: nothing was added. The balance of {} is {balance}.",
            team.name
        )
    };
    let answer = json!({ "reference": reference, "is_new": booked.is_new, "balance_cents": booked.balance_cents });
    CommandReport::new(&answer, text)
}

/// Lists what teams have asked for.
pub(crate) async fn list_top_up_requests(
    store: &Store,
    after: Option<TopUpRequestId>,
    limit: i64,
) -> anyhow::Result<CommandReport> {
    let requests = store.list_open_top_ups(after, limit).await?;
    let mut rows = build_table(["Asked", "Team", "Amount", "Reference", "By", "Id"]);
    for request in &requests {
        rows.add_row([
            request
                .created_at
                .to_rfc3339_opts(SecondsFormat::Secs, true),
            request.team.clone(),
            DollarAmount(request.amount_cents).to_string(),
            request.reference.clone(),
            request.user_name.clone(),
            request.request_id.to_string(),
        ]);
    }
    CommandReport::new(&json!({ "top_up_requests": requests }), rows.trim_fmt())
}

/// Shows a team's balance.
pub(crate) async fn show_balance(store: &Store, team: &str) -> anyhow::Result<CommandReport> {
    let team = find_team(store, team).await?;
    let cents = store.find_balance(team.team_id).await?;
    let answer = json!({ "team": team.name, "balance_cents": cents });
    CommandReport::new(
        &answer,
        format!("The balance of {} is {}.", team.name, DollarAmount(cents)),
    )
}
