//! Recipients as a file.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use contract::id::{CampaignId, TeamId};
use store::{FoundCursor, RecipientLine, Store};
use uuid::Uuid;

use super::Asked;
use crate::Console;
use crate::access::Person;
use crate::download::{Download, LINES_READ, Lines, csv};
use crate::failure::Failure;
use crate::page::campaign::{CampaignPath, find};
use crate::show::Zone;

const HEADINGS: [&str; 8] =
    ["reference", "first_name", "last_name", "address", "status", "reason", "received_at", "removed_at"];

/// Who is in the file, and how it is read.
struct Export {
    store: Store,
    team_id: TeamId,
    campaign_id: CampaignId,
    text: String,
    outcome: Option<&'static str>,
    zone: Zone,
}

/// Where the file goes on.
enum Place {
    /// Behind an entry. The order of entries stays as it is whatever is sent meanwhile, so nobody is missed or told twice.
    Entry(Uuid),
    /// Behind one that was found by name or address.
    Found(FoundCursor),
}

/// The file.
pub(super) async fn download(
    State(console): State<Console>,
    person: Person,
    path: CampaignPath,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Failure> {
    let (campaign_id, Query(asked)) = (path?.0, asked?);
    let campaign = find(&console, &person, &campaign_id).await?;
    let (text, outcome) = (asked.text.trim().to_owned(), asked.outcome()?);
    let start =
        if text.is_empty() { Place::Entry(Uuid::nil()) } else { Place::Found(FoundCursor::default()) };
    let name = format!("recipients-{campaign_id}.csv");
    let (store, team_id) = (console.process.store.clone(), person.0.team_id);
    let zone = Zone::new(&person.0.time_zone);
    let export = std::sync::Arc::new(Export { store, team_id, campaign_id, text, outcome, zone });
    let download = Download {
        file_name: &name,
        headings: &HEADINGS,
        action: "recipient.downloaded",
        subject: &campaign.name,
    };
    let read = move |place| {
        let export = export.clone();
        async move { export.read(place).await }
    };
    csv(&console, &person, download, start, read).await
}

impl Export {
    async fn read(&self, place: Place) -> store::Result<Lines<Place>> {
        let Self { store, team_id, campaign_id, text, .. } = self;
        let (lines, last) = match place {
            Place::Entry(after) => {
                let lines = store.recipient_portion(*team_id, campaign_id, after, LINES_READ).await?;
                let last = lines.last().map(|last| Place::Entry(last.entry_id));
                (lines, last)
            }
            Place::Found(after) => {
                let found = store.recipient_find(*team_id, campaign_id, text, &after, LINES_READ).await?;
                let last = found.last().map(|last| Place::Found(last.cursor.clone()));
                (found.into_iter().map(|found| found.line).collect(), last)
            }
        };
        let is_wanted = |line: &&RecipientLine| self.outcome.is_none_or(|outcome| line.outcome == outcome);
        let cells = lines.iter().filter(is_wanted).map(|line| cells(line, self.zone)).collect();
        Ok(Lines { cells, next: last.filter(|_| lines.len() as i64 == LINES_READ) })
    }
}

fn cells(line: &RecipientLine, zone: Zone) -> Vec<String> {
    let RecipientLine { first_name, last_name, address, reference, outcome, received_at, removed_at, .. } =
        line;
    let (status, reason) =
        if outcome == "mailed" { ("mailed", "") } else { ("not_mailed", outcome.as_str()) };
    vec![
        reference.clone().unwrap_or_default(),
        first_name.clone(),
        last_name.clone(),
        address.clone(),
        status.to_owned(),
        reason.to_owned(),
        zone.stamp(received_at),
        removed_at.as_ref().map(|moment| zone.stamp(moment)).unwrap_or_default(),
    ]
}
