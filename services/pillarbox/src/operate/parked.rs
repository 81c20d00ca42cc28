//! `parked`.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use queue::{Broker, ParkedMessage, delete_parked_messages, list_parked_messages};
use runtime::Config;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::command::ParkedCommand;
use crate::report::{CommandReport, build_table};

/// Time for the broker to do what is asked, connecting included.
const BROKER_TIMEOUT: Duration = Duration::from_secs(20);

/// Does one of the commands on parked messages.
pub(crate) async fn run_command(
    config: &Config,
    command: ParkedCommand,
) -> anyhow::Result<CommandReport> {
    runtime::install_crypto();
    let shutdown = CancellationToken::new();
    let _stop = shutdown.clone().drop_guard();
    let broker = Broker::start(&config.broker, "pillarbox parked", shutdown);
    let doing = async {
        match command {
            ParkedCommand::List => list_messages(&list_parked_messages(&broker).await?),
            ParkedCommand::Show { request_id } => {
                show_message(list_parked_messages(&broker).await?, request_id)
            }
            ParkedCommand::Drop => {
                let dropped = delete_parked_messages(&broker).await?;
                let text = format!("Parked messages thrown away: {dropped}.");
                CommandReport::new(&json!({ "dropped": dropped }), text)
            }
        }
    };
    tokio::time::timeout(BROKER_TIMEOUT, doing)
        .await
        .context("RabbitMQ cannot be reached")?
}

fn list_messages(parked: &[ParkedMessage]) -> anyhow::Result<CommandReport> {
    let mut rows = build_table(["Request", "Kind", "Team", "Queue", "Why", "Bytes"]);
    for message in parked {
        let id = message.id.map(|id| id.to_string()).unwrap_or_default();
        let bytes = message.bytes.to_string();
        rows.add_row([
            &id,
            &message.kind,
            &message.team,
            &message.queue,
            &message.reason,
            &bytes,
        ]);
    }
    let messages: Vec<_> = parked
        .iter()
        .map(|message| {
            json!({
                "request_id": message.id,
                "kind": message.kind,
                "team": message.team,
                "queue": message.queue,
                "reason": message.reason,
                "bytes": message.bytes,
            })
        })
        .collect();
    CommandReport::new(&json!({ "parked": messages }), rows.trim_fmt())
}

fn show_message(parked: Vec<ParkedMessage>, request_id: Uuid) -> anyhow::Result<CommandReport> {
    let found = parked
        .into_iter()
        .find(|message| message.id == Some(request_id));
    let Some(message) = found else {
        bail!("no message of this request is among the oldest parked ones")
    };
    let Some(body) = message.body else {
        bail!("the message's encoding is not known to this version")
    };
    std::io::stdout()
        .write_all(&body)
        .context("cannot write the body")?;
    Ok(CommandReport::empty())
}
