//! Recipients as a file.

use model::id::{CampaignId, TeamId};
use store::{RecipientLine, RecipientSearchCursor, Store};
use uuid::Uuid;

use super::RecipientListQuery;
use crate::csv_download::{CsvChunk, CsvDownload, LINES_READ, download_csv};
use crate::extract::{MemberContext, PagePath, PageQuery};
use crate::format::TeamTimeZone;
use crate::page::campaign::{CampaignPath, find_campaign};
use crate::page_error::PageResult;

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
pub(crate) async fn export_recipients(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    PageQuery(asked): PageQuery<RecipientListQuery>,
) -> PageResult {
    let campaign = find_campaign(&context, &campaign_id).await?;
    let (text, outcome) = (asked.lookup_text(), asked.wanted_outcome()?);
    let start = if text.is_empty() {
        RecipientExportCursor::Entry(Uuid::nil())
    } else {
        RecipientExportCursor::Found(RecipientSearchCursor::default())
    };
    let name = format!("recipients-{campaign_id}.csv");
    let (store, team_id) = (context.store().clone(), context.team_id());
    let zone = context.time_zone();
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
        async move { export.read_chunk(place).await }
    };
    download_csv(&context, download, start, read).await
}

impl RecipientExport {
    async fn read_chunk(
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
            .map(|line| recipient_cells(line, self.zone))
            .collect();
        Ok(CsvChunk {
            cells,
            next: last.filter(|_| lines.len() as i64 == LINES_READ),
        })
    }
}

fn recipient_cells(line: &RecipientLine, zone: TeamTimeZone) -> Vec<String> {
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
        zone.format_stamp(received_at),
        removed_at
            .as_ref()
            .map(|moment| zone.format_stamp(moment))
            .unwrap_or_default(),
    ]
}
