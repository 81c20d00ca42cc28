//! A team's scans with their cards, for those who follow them.

use chrono::{DateTime, Utc};
use model::id::TeamId;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::pool::Store;
use crate::scan::{CARD, ScannedMailpiece, scanned_mailpiece_from_row};

/// A recorded scan with its card.
#[derive(Debug, Clone)]
pub struct RecordedScan {
    /// Its id: later ones are greater.
    pub scan_id: Uuid,
    /// The card that was scanned, as it is known now.
    pub card: ScannedMailpiece,
    /// `person` or `program`.
    pub visitor: String,
    /// Where it was sent.
    pub destination: String,
    /// Roughly where it came from.
    pub city: Option<String>,
    /// Roughly where it came from.
    pub region: Option<String>,
    /// Degrees north.
    pub latitude: Option<f64>,
    /// Degrees east.
    pub longitude: Option<f64>,
    /// When.
    pub scanned_at: DateTime<Utc>,
}

fn recorded_scan_from_row(row: &Row) -> Result<RecordedScan> {
    Ok(RecordedScan {
        scan_id: row.get("scan_id"),
        card: scanned_mailpiece_from_row(row)?,
        visitor: row.get("visitor"),
        destination: row.get("destination"),
        city: row.get("scan_city"),
        region: row.get("region"),
        latitude: row.get("latitude"),
        longitude: row.get("longitude"),
        scanned_at: row.get("scanned_at"),
    })
}

/// Scans with their cards; the scans are those of `source`, named `scan`.
fn recorded_scans_sql(source: &str) -> String {
    format!(
        "SELECT scan.scan_id, scan.visitor, scan.destination, scan.city AS scan_city, scan.region,
             scan.latitude, scan.longitude, scan.scanned_at, {CARD}
         FROM {source}
         JOIN mailpieces mailpiece ON mailpiece.team_id = scan.team_id AND mailpiece.mailpiece_id = scan.mailpiece_id
         JOIN campaigns campaign ON campaign.campaign_id = mailpiece.campaign_id
         JOIN teams team ON team.team_id = mailpiece.team_id
         LEFT JOIN address_entries entry ON entry.team_id = mailpiece.team_id AND entry.entry_id = mailpiece.entry_id
         ORDER BY scan.scan_id"
    )
}

impl Store {
    /// These scans of a team, in the order of their ids; those that are gone are left out.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_scans(
        &self,
        team_id: TeamId,
        scan_ids: &[Uuid],
    ) -> Result<Vec<RecordedScan>> {
        let sql = recorded_scans_sql(
            "unnest($2::uuid[]) AS wanted (id)
             CROSS JOIN LATERAL (
                 SELECT * FROM scans WHERE team_id = $1 AND scan_id = wanted.id LIMIT 1) scan",
        );
        let rows = self.query_rows(&sql, &[&team_id.0, &scan_ids]).await?;
        rows.iter().map(recorded_scan_from_row).collect()
    }

    /// A team's scans with ids between `after` and `before`, the least first, at most `limit` of them. What is recorded
    /// later may lie among them: a feed has the order in which scans were recorded.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_scans_between(
        &self,
        team_id: TeamId,
        after: Uuid,
        before: Uuid,
        limit: i64,
    ) -> Result<Vec<RecordedScan>> {
        let sql = recorded_scans_sql(
            "(SELECT * FROM scans WHERE team_id = $1 AND scan_id > $2 AND scan_id < $3
              ORDER BY scan_id LIMIT $4) scan",
        );
        let rows = self
            .query_rows(&sql, &[&team_id.0, &after, &before, &limit])
            .await?;
        rows.iter().map(recorded_scan_from_row).collect()
    }
}
