//! A team's scans in the order in which they came.

use chrono::{DateTime, Utc};
use contract::id::TeamId;
use uuid::Uuid;

use crate::error::Result;
use crate::pool::Store;
use crate::scan::{CARD, ScannedCard, card};

/// A recorded scan with its card.
#[derive(Debug, Clone)]
pub struct RecordedScan {
    /// Its id: later ones are greater.
    pub scan_id: Uuid,
    /// The card that was scanned, as it is known now.
    pub card: ScannedCard,
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

impl Store {
    /// A team's scans behind `after`, the earliest first, at most `limit` of them.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn scan_list(&self, team_id: TeamId, after: Uuid, limit: i64) -> Result<Vec<RecordedScan>> {
        let sql = format!(
            "SELECT scan.scan_id, scan.visitor, scan.destination, scan.city AS scan_city, scan.region,
                 scan.latitude, scan.longitude, scan.scanned_at, {CARD}
             FROM (SELECT * FROM scans WHERE team_id = $1 AND scan_id > $2 ORDER BY scan_id LIMIT $3) scan
             JOIN pieces piece USING (team_id, piece_id)
             JOIN campaigns campaign ON campaign.campaign_id = piece.campaign_id
             JOIN teams team ON team.team_id = piece.team_id
             LEFT JOIN address_entries entry ON entry.team_id = piece.team_id AND entry.entry_id = piece.entry_id
             ORDER BY scan.scan_id"
        );
        let rows = self.rows(&sql, &[&team_id.0, &after, &limit]).await?;
        let recorded = rows.iter().map(|row| RecordedScan {
            scan_id: row.get("scan_id"),
            card: card(row),
            visitor: row.get("visitor"),
            destination: row.get("destination"),
            city: row.get("scan_city"),
            region: row.get("region"),
            latitude: row.get("latitude"),
            longitude: row.get("longitude"),
            scanned_at: row.get("scanned_at"),
        });
        Ok(recorded.collect())
    }
}
