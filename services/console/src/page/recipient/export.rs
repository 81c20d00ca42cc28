//! Recipients as a file.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use model::id::{CampaignId, TeamId};
use store::{RecipientLine, RecipientSearchCursor, Store};
use uuid::Uuid;

use super::RecipientListQuery;
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::download::{CsvChunk, CsvDownload, LINES_READ, csv};
use crate::failure::PageError;
use crate::page::campaign::{CampaignPath, find};
use crate::show::TeamTimeZone;

const HEADINGS: [&str; 8] = [
    "reference",
    "first_name",
    "last_name",
    "address",
    "status",
    "reason",
    "received_at",
    "removed_at",
];

/// Who is in the file, and how it is read.
struct RecipientExport {
    store: Store,
    team_id: TeamId,
    campaign_id: CampaignId,
    text: String,
    outcome: Option<&'static str>,
    zone: TeamTimeZone,
}

/// Where the file goes on.
enum RecipientExportCursor {
    /// Behind an entry. The order of entries stays as it is whatever is sent meanwhile, so nobody is missed or told twice.
    Entry(Uuid),
    /// Behind one that was found by name or address.
    Found(RecipientSearchCursor),
}

/// The file.
pub(super) async fn download(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
    asked: Result<Query<RecipientListQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (campaign_id, Query(asked)) = (path?.0, asked?);
    let campaign = find(&console, &person, &campaign_id).await?;
    let (text, outcome) = (asked.text.trim().to_owned(), asked.outcome()?);
    let start = if text.is_empty() {
        RecipientExportCursor::Entry(Uuid::nil())
    } else {
        RecipientExportCursor::Found(RecipientSearchCursor::default())
    };
    let name = format!("recipients-{campaign_id}.csv");
    let (store, team_id) = (console.process.store.clone(), person.0.team_id);
    let zone = TeamTimeZone::new(person.0.time_zone);
    let export = std::sync::Arc::new(RecipientExport {
        store,
        team_id,
        campaign_id,
        text,
        outcome,
        zone,
    });
    let download = CsvDownload {
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

impl RecipientExport {
    async fn read(
        &self,
        place: RecipientExportCursor,
    ) -> store::Result<CsvChunk<RecipientExportCursor>> {
        let Self {
            store,
            team_id,
            campaign_id,
            text,
            ..
        } = self;
        let (lines, last) = match place {
            RecipientExportCursor::Entry(after) => {
                let lines = store
                    .list_recipient_portion(*team_id, campaign_id, after, LINES_READ)
                    .await?;
                let last = lines
                    .last()
                    .map(|last| RecipientExportCursor::Entry(last.entry_id));
                (lines, last)
            }
            RecipientExportCursor::Found(after) => {
                let found = store
                    .search_recipients(*team_id, campaign_id, text, &after, LINES_READ)
                    .await?;
                let last = found
                    .last()
                    .map(|last| RecipientExportCursor::Found(last.cursor.clone()));
                (found.into_iter().map(|found| found.line).collect(), last)
            }
        };
        let is_wanted =
            |line: &&RecipientLine| self.outcome.is_none_or(|outcome| line.outcome == outcome);
        let cells = lines
            .iter()
            .filter(is_wanted)
            .map(|line| cells(line, self.zone))
            .collect();
        Ok(CsvChunk {
            cells,
            next: last.filter(|_| lines.len() as i64 == LINES_READ),
        })
    }
}

fn cells(line: &RecipientLine, zone: TeamTimeZone) -> Vec<String> {
    let RecipientLine {
        first_name,
        last_name,
        address,
        reference,
        outcome,
        received_at,
        removed_at,
        ..
    } = line;
    let (status, reason) = if outcome == "mailed" {
        ("mailed", "")
    } else {
        ("not_mailed", outcome.as_str())
    };
    vec![
        reference.clone().unwrap_or_default(),
        first_name.clone(),
        last_name.clone(),
        address.clone(),
        status.to_owned(),
        reason.to_owned(),
        zone.stamp(received_at),
        removed_at
            .as_ref()
            .map(|moment| zone.stamp(moment))
            .unwrap_or_default(),
    ]
}
