//! `endpoint`.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use delivering::EndpointManager;
use model::id::{CampaignId, EndpointId};
use outbound::TargetPolicy;
use runtime::Config;
use secret::SigningSecret;
use serde_json::{Value, json};
use store::{Actor, Store};

use super::find_team;
use crate::command::{EndpointArgs, EndpointCommand};
use crate::report::{CommandReport, build_table};

/// Does one of the commands on webhook endpoints.
pub(crate) async fn run_command(
    store: &Store,
    config: &Config,
    command: EndpointCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        EndpointCommand::Add {
            team,
            url,
            campaigns,
        } => add_endpoint(store, config, &team, &url, &campaigns, now).await,
        EndpointCommand::List { team } => list_endpoints(store, &team).await,
        EndpointCommand::Pause(of) => {
            let (manager, endpoint) = find_endpoint(store, &of, now).await?;
            manager.pause(endpoint).await?;
            build_report(endpoint, "gets nothing any more; what waited was dropped")
        }
        EndpointCommand::Resume(of) => {
            let (manager, endpoint) = find_endpoint(store, &of, now).await?;
            manager.resume(endpoint).await?;
            build_report(endpoint, "gets scans from now on")
        }
        EndpointCommand::Delete(of) => {
            let (manager, endpoint) = find_endpoint(store, &of, now).await?;
            manager.delete(endpoint).await?;
            build_report(endpoint, "is deleted")
        }
        EndpointCommand::Deliveries(of) => list_deliveries(store, &of).await,
        EndpointCommand::Test(_)
        | EndpointCommand::Redeliver { .. }
        | EndpointCommand::Replay { .. } => run_send_command(store, command, now).await,
        EndpointCommand::Sign(of) => rotate_secret(store, config, &of, now).await,
        EndpointCommand::StopSigning(of) => {
            let (manager, endpoint) = find_endpoint(store, &of, now).await?;
            manager.stop_signing(endpoint).await?;
            build_report(endpoint, "gets deliveries without a signature from now on")
        }
    }
}

/// Who manages the endpoint's team, and the endpoint.
async fn find_endpoint<'a>(
    store: &'a Store,
    of: &EndpointArgs,
    now: DateTime<Utc>,
) -> anyhow::Result<(EndpointManager<'a>, EndpointId)> {
    let team_id = find_team(store, &of.team).await?.team_id;
    Ok((
        EndpointManager::new(store, team_id, Actor::Operator, now),
        of.endpoint_id,
    ))
}

fn build_report(endpoint_id: EndpointId, what: &str) -> anyhow::Result<CommandReport> {
    CommandReport::new(
        &json!({ "endpoint_id": endpoint_id }),
        format!("The endpoint {endpoint_id} {what}."),
    )
}

async fn add_endpoint(
    store: &Store,
    config: &Config,
    team: &str,
    url: &str,
    campaigns: &[CampaignId],
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let team_id = find_team(store, team).await?.team_id;
    let policy = TargetPolicy::new(&config.outbound.allowed_networks);
    let scope = (!campaigns.is_empty()).then_some(campaigns);
    let saved = EndpointManager::new(store, team_id, Actor::Operator, now)
        .add(&policy, url, scope)
        .await?;
    let (id, what) = (
        saved.endpoint_id,
        if saved.is_new { "Made" } else { "Changed" },
    );
    CommandReport::new(
        &json!({ "endpoint_id": id, "is_new": saved.is_new }),
        format!("{what} the endpoint {id}."),
    )
}

async fn list_endpoints(store: &Store, team: &str) -> anyhow::Result<CommandReport> {
    let endpoints = store
        .list_endpoints(find_team(store, team).await?.team_id)
        .await?;
    let mut rows = build_table([
        "URL",
        "State",
        "Campaigns",
        "Failures in a row",
        "Last error",
        "Signed",
        "Id",
    ]);
    for endpoint in &endpoints {
        rows.add_row([
            endpoint.url.clone(),
            endpoint.state.as_str().to_owned(),
            endpoint
                .campaigns
                .as_ref()
                .map_or_else(|| "all".to_owned(), |campaigns| campaigns.join(" ")),
            endpoint.failures_in_row.to_string(),
            endpoint.last_error.clone().unwrap_or_default(),
            if endpoint.is_signed { "yes" } else { "no" }.to_owned(),
            endpoint.endpoint_id.to_string(),
        ]);
    }
    CommandReport::new(&json!({ "endpoints": endpoints }), rows.trim_fmt())
}

async fn list_deliveries(store: &Store, of: &EndpointArgs) -> anyhow::Result<CommandReport> {
    let team_id = find_team(store, &of.team).await?.team_id;
    let deliveries = store.list_deliveries(team_id, of.endpoint_id).await?;
    let mut rows = build_table([
        "Made",
        "Event",
        "Kind",
        "State",
        "Attempts",
        "Last status",
        "Last error",
        "Id",
    ]);
    for delivery in &deliveries {
        let last = delivery
            .attempts
            .as_array()
            .and_then(|attempts| attempts.last());
        let text = |name: &str| match last.and_then(|last| last.get(name)) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        rows.add_row([
            delivery
                .created_at
                .to_rfc3339_opts(SecondsFormat::Secs, true),
            delivery.event_id.clone(),
            delivery.kind.clone(),
            delivery.state.clone(),
            delivery.attempts_made.to_string(),
            text("status"),
            text("error"),
            delivery.delivery_id.to_string(),
        ]);
    }
    CommandReport::new(&json!({ "deliveries": deliveries }), rows.trim_fmt())
}

/// The commands after which a dispatcher finds something to send.
async fn run_send_command(
    store: &Store,
    command: EndpointCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        EndpointCommand::Test(of) => {
            let (manager, endpoint) = find_endpoint(store, &of, now).await?;
            let id = manager.send_test(endpoint).await?;
            CommandReport::new(
                &json!({ "delivery_id": id }),
                format!("A test event is on its way: delivery {id}."),
            )
        }
        EndpointCommand::Redeliver { of, delivery_id } => {
            let (manager, endpoint) = find_endpoint(store, &of, now).await?;
            let id = manager.redeliver(endpoint, delivery_id).await?;
            CommandReport::new(
                &json!({ "delivery_id": id }),
                format!("The event is on its way again: delivery {id}."),
            )
        }
        EndpointCommand::Replay { of, since } => {
            let (manager, endpoint) = find_endpoint(store, &of, now).await?;
            let replayed = manager.replay_failed(endpoint, since).await?;
            CommandReport::new(
                &json!({ "replayed": replayed }),
                format!("Failed deliveries on their way again: {replayed}."),
            )
        }
        other => anyhow::bail!("{other:?} sends nothing"),
    }
}

async fn rotate_secret(
    store: &Store,
    config: &Config,
    of: &EndpointArgs,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let (manager, endpoint_id) = find_endpoint(store, of, now).await?;
    let hours = config.dispatcher.earlier_secret_hours;
    let secret = SigningSecret::random();
    manager
        .sign(endpoint_id, &secret, TimeDelta::hours(hours), |_| true)
        .await?;
    let secret = secret.reveal();
    let text = format!(
        "{secret}\nThis is the only time that the key is shown. A key before it signs as well for {hours} hours."
    );
    CommandReport::new(
        &json!({ "endpoint_id": endpoint_id, "secret": secret }),
        text,
    )
}
