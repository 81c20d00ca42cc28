//! Scans: from a code to the card, and from the card to a scan with its event and deliveries.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use model::id::{EndpointId, MailpieceId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::campaign_day::SCANS;
use crate::error::Result;
use crate::pool::Store;
use crate::team::time_zone_from_row;

/// What is behind a code.
#[derive(Debug, Clone)]
pub struct ScannedMailpiece {
    /// The card's owner.
    pub team_id: TeamId,
    /// The card.
    pub mailpiece_id: MailpieceId,
    /// `PA-` and six characters.
    pub campaign_id: String,
    /// The campaign's name now.
    pub campaign_name: String,
    /// The team's zone.
    pub time_zone: Tz,
    /// In the order of the design's QR codes; empty for a design without one.
    pub destinations: Vec<String>,
    /// As sent.
    pub first_name: String,
    /// As sent.
    pub last_name: String,
    /// As printed.
    pub line_1: String,
    /// As printed.
    pub line_2: String,
    /// The unit of `line_1` that was sent in `address_2`, or empty.
    pub unit_apart: String,
    /// As printed.
    pub city: String,
    /// As printed.
    pub state: String,
    /// As printed: five digits, or nine with a hyphen.
    pub zip: String,
    /// Of the address-book entry now; empty when not known.
    pub email: String,
    /// Of the address-book entry now; empty when not known.
    pub phone: String,
}

/// A scan to be recorded, with its event.
#[derive(Debug, Clone)]
pub struct NewScan {
    /// Its id, which is also the event's.
    pub scan_id: Uuid,
    /// The card's owner.
    pub team_id: TeamId,
    /// The card.
    pub mailpiece_id: MailpieceId,
    /// The card's campaign.
    pub campaign_id: String,
    /// `person` or `program`.
    pub visitor: &'static str,
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
    /// The team's day then.
    pub day: NaiveDate,
    /// The event's body.
    pub body: String,
    /// The place of the scan in a trace that is recorded.
    pub traceparent: Option<String>,
}

/// The columns of a [`ScannedMailpiece`], of `mailpiece`, its `campaign`, its `team` and its address-book `entry`.
pub(crate) const CARD: &str = "
    mailpiece.team_id, mailpiece.mailpiece_id, mailpiece.campaign_id, campaign.name, team.time_zone, mailpiece.destinations,
    mailpiece.first_name, mailpiece.last_name, mailpiece.line_1, mailpiece.line_2, mailpiece.unit_apart, mailpiece.city,
    mailpiece.state,
    mailpiece.zip || coalesce('-' || mailpiece.plus4, '') AS zip,
    coalesce(entry.email, '') AS email, coalesce(entry.phone, '') AS phone";

// An endpoint that is paused while this runs may still get a delivery: it is cancelled when it is found.
// OFFSET 0 keeps the look-up of endpoints one by team, whatever the planner thinks of the table's size.
const RECORD: &str = "
    WITH new AS MATERIALIZED (
        SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::text[], $9::float8[], $10::float8[], $11::timestamptz[], $12::text[], $13::date[], $15::text[])
            AS new (team_id, scan_id, mailpiece_id, campaign_id, visitor, destination, city, region, latitude, longitude,
                scanned_at, body, day, traceparent)
    ), counted AS (
        INSERT INTO campaign_days AS stored (team_id, day, campaign_id, figure, slot, amount)
        SELECT team_id, day, campaign_id, $14, pg_backend_pid() % 64, count(*) FROM new WHERE visitor = 'person'
        GROUP BY team_id, day, campaign_id ORDER BY team_id, day, campaign_id
        ON CONFLICT (team_id, day, campaign_id, figure, slot) DO UPDATE SET amount = stored.amount + excluded.amount
    ), recorded AS (
        INSERT INTO scans (team_id, scan_id, mailpiece_id, campaign_id, visitor, destination, city, region, latitude,
            longitude, scanned_at)
        SELECT team_id, scan_id, mailpiece_id, campaign_id, visitor, destination, city, region, latitude, longitude,
            scanned_at FROM new
    ), target AS MATERIALIZED (
        SELECT new.team_id, new.scan_id, new.scanned_at, endpoint.endpoint_id
        FROM new CROSS JOIN LATERAL (
            SELECT endpoint_id FROM endpoints endpoint
            WHERE endpoint.team_id = new.team_id AND endpoint.state = 'active' AND (endpoint.all_campaigns OR EXISTS (
                SELECT FROM endpoint_campaigns scope
                WHERE scope.team_id = new.team_id AND scope.endpoint_id = endpoint.endpoint_id
                    AND scope.campaign_id = new.campaign_id))
            OFFSET 0) endpoint
    ), event AS (
        INSERT INTO events (team_id, event_id, is_test, body, created_at, traceparent)
        SELECT team_id, scan_id, false, body, scanned_at, traceparent FROM new
        WHERE scan_id IN (SELECT scan_id FROM target)
    ), delivery AS (
        INSERT INTO deliveries (team_id, endpoint_id, delivery_id, event_id, kind, state, is_retry, due_at, created_at)
        SELECT team_id, endpoint_id, scan_id, scan_id, 'event', 'waiting', false, scanned_at, scanned_at FROM target
    )
    SELECT DISTINCT endpoint_id FROM target";

/// A card from a row with the columns of [`CARD`].
pub(crate) fn scanned_mailpiece_from_row(row: &Row) -> Result<ScannedMailpiece> {
    Ok(ScannedMailpiece {
        team_id: TeamId(row.get("team_id")),
        mailpiece_id: MailpieceId(row.get("mailpiece_id")),
        campaign_id: row.get("campaign_id"),
        campaign_name: row.get("name"),
        time_zone: time_zone_from_row(row)?,
        destinations: row.get("destinations"),
        first_name: row.get("first_name"),
        last_name: row.get("last_name"),
        line_1: row.get("line_1"),
        line_2: row.get("line_2"),
        unit_apart: row.get("unit_apart"),
        city: row.get("city"),
        state: row.get("state"),
        zip: row.get("zip"),
        email: row.get("email"),
        phone: row.get("phone"),
    })
}

impl Store {
    /// The cards with these codes, by code. A code that is nobody's is not among them.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_scanned_mailpieces(
        &self,
        codes: &[&str],
    ) -> Result<HashMap<String, ScannedMailpiece>> {
        let sql = format!(
            "SELECT mailpiece.code, {CARD}
             FROM mailpieces mailpiece
             JOIN campaigns campaign USING (campaign_id)
             JOIN teams team ON team.team_id = mailpiece.team_id
             LEFT JOIN address_entries entry ON entry.team_id = mailpiece.team_id AND entry.entry_id = mailpiece.entry_id
             WHERE mailpiece.code = ANY ($1)"
        );
        let rows = self.query_rows(&sql, &[&codes]).await?;
        rows.iter()
            .map(|row| Ok((row.get("code"), scanned_mailpiece_from_row(row)?)))
            .collect()
    }

    /// Records scans, each with its event and a delivery to every active endpoint whose scope it is in, all or
    /// nothing. Returns the endpoints that have deliveries waiting now.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked; when it is unavailable, they may be recorded all the
    /// same.
    pub async fn record_scans(&self, scans: &[NewScan]) -> Result<Vec<EndpointId>> {
        macro_rules! column {
            ($scan:ident => $value:expr) => {
                scans.iter().map(|$scan| $value).collect::<Vec<_>>()
            };
        }
        let rows = self
            .query_rows(
                RECORD,
                &[
                    &column!(scan => scan.team_id.0),
                    &column!(scan => scan.scan_id),
                    &column!(scan => scan.mailpiece_id.0),
                    &column!(scan => scan.campaign_id.as_str()),
                    &column!(scan => scan.visitor),
                    &column!(scan => scan.destination.as_str()),
                    &column!(scan => scan.city.as_deref()),
                    &column!(scan => scan.region.as_deref()),
                    &column!(scan => scan.latitude),
                    &column!(scan => scan.longitude),
                    &column!(scan => scan.scanned_at),
                    &column!(scan => scan.body.as_str()),
                    &column!(scan => scan.day),
                    &SCANS,
                    &column!(scan => scan.traceparent.as_deref()),
                ],
            )
            .await?;
        Ok(rows.iter().map(|row| EndpointId(row.get(0))).collect())
    }
}
