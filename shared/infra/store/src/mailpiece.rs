//! Cards.

use std::collections::HashSet;

use chrono::{DateTime, NaiveDate, Utc};
use model::id::{CampaignId, ChargeId, DesignId, TeamId};
use model::mailpiece_state::WithheldMailpiece;
use model::scan::MailpieceCode;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::error::Result;
use crate::mailpiece_content::MailpieceContent;
use crate::pool::{Store, Transaction};
use crate::recipient::BookEntryAddress;

/// A card to be made: whom it goes to. What all cards of a batch share is given once, in [`MailpieceBatch`].
#[derive(Debug, Clone)]
pub struct MailpieceRow<'a> {
    /// The address-book entry.
    pub entry_id: Uuid,
    /// The verified address.
    pub address_id: Uuid,
    /// As sent.
    pub first_name: &'a str,
    /// As sent.
    pub last_name: &'a str,
    /// The verified delivery line.
    pub line_1: &'a str,
    /// The verified second line.
    pub line_2: &'a str,
    /// The unit of `line_1` that was sent in `address_2`, or empty.
    pub unit_apart: &'a str,
    /// Verified.
    pub city: &'a str,
    /// Verified.
    pub state: &'a str,
    /// Five digits.
    pub zip: &'a str,
    /// Four digits, when known.
    pub plus4: Option<&'a str>,
    /// How far the address was verified.
    pub verification: &'a str,
    /// Where the card's QR codes lead, in the order of the design, separated by spaces: a link has none. Empty for a
    /// design without a QR code.
    pub destinations: String,
    /// What verification changed, in words; empty for nothing.
    pub corrections: String,
    /// Neighborhood Mail: the entry of the center that the home lies around.
    pub center_entry_id: Option<Uuid>,
    /// What it prints of its recipient.
    pub content: MailpieceContent,
}

/// What the cards of one charge share.
#[derive(Debug, Clone)]
pub struct MailpieceBatch<'a> {
    /// The owner.
    pub team_id: TeamId,
    /// The campaign.
    pub campaign_id: &'a CampaignId,
    /// The campaign's step.
    pub step: i16,
    /// The charge that pays.
    pub charge_id: ChargeId,
    /// The design.
    pub design_id: DesignId,
    /// The version at the time of the request.
    pub design_version: i32,
    /// The product.
    pub product: &'a str,
    /// `standard` or `first_class`.
    pub postage: &'a str,
    /// What one card costs.
    pub price_cents: i64,
    /// The day by which it mails.
    pub mail_by_date: NaiveDate,
    /// They do not print before; `None` is at once.
    pub print_after: Option<DateTime<Utc>>,
    /// Whether the campaign is held, so that they are out of the queue from the beginning.
    pub is_held: bool,
}

/// A card of an earlier step, with what its entry knows today.
#[derive(Debug, Clone)]
pub struct EarlierMailpiece {
    /// The card.
    pub mailpiece_id: Uuid,
    /// Its entry.
    pub entry_id: Uuid,
    /// Its address.
    pub address_id: Uuid,
    /// Whom and where it went to.
    pub entry: BookEntryAddress,
    /// Neighborhood Mail: the entry of the center that the home lies around.
    pub center_entry_id: Option<Uuid>,
}

impl Store {
    /// The cards of a settled charge that were not cancelled, in the order of their ids, after `after`; at most `limit`.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_charged_mailpieces(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
        after: Uuid,
        limit: i64,
    ) -> Result<Vec<EarlierMailpiece>> {
        let rows = self
            .query_rows(
                "SELECT mailpiece.mailpiece_id, mailpiece.entry_id, mailpiece.address_id, mailpiece.first_name, mailpiece.last_name,
                     mailpiece.line_1, mailpiece.line_2, mailpiece.unit_apart, mailpiece.city, mailpiece.state, mailpiece.zip, mailpiece.plus4,
                     mailpiece.verification, mailpiece.center_entry_id, coalesce(entry.latitude, point.latitude) AS latitude,
                     coalesce(entry.longitude, point.longitude) AS longitude
                 FROM mailpieces mailpiece LEFT JOIN address_entries entry USING (team_id, entry_id)
                 -- Homes around a center are in nobody's address book.
                 LEFT JOIN address_points point ON mailpiece.center_entry_id IS NOT NULL
                     AND point.zip = mailpiece.zip::integer AND point.address_id = mailpiece.address_id
                 WHERE mailpiece.team_id = $1 AND mailpiece.charge_id = $2 AND mailpiece.mailpiece_id > $3
                     AND mailpiece.withheld IS DISTINCT FROM 'cancelled'
                 ORDER BY mailpiece.mailpiece_id LIMIT $4",
                &[&team_id.0, &charge_id.0, &after, &limit],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| EarlierMailpiece {
                mailpiece_id: row.get("mailpiece_id"),
                entry_id: row.get("entry_id"),
                address_id: row.get("address_id"),
                center_entry_id: row.get("center_entry_id"),
                entry: BookEntryAddress {
                    first_name: row.get("first_name"),
                    last_name: row.get("last_name"),
                    address_1: row.get("line_1"),
                    address_2: row.get("line_2"),
                    unit_apart: row.get("unit_apart"),
                    city: row.get("city"),
                    state: row.get("state"),
                    zip: row.get("zip"),
                    plus4: row.get("plus4"),
                    verification: row.get("verification"),
                    latitude: row.get("latitude"),
                    longitude: row.get("longitude"),
                },
            })
            .collect())
    }
}

impl Transaction<'_> {
    /// Of these addresses, those that the campaign mailed since `since` with a card that was not cancelled. True until the transaction ends when
    /// the campaign is locked.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_mailed_addresses_since(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        address_ids: &[Uuid],
        since: DateTime<Utc>,
    ) -> Result<HashSet<Uuid>> {
        let parameters: [&(dyn ToSql + Sync); 4] =
            [&team_id.0, &campaign_id.as_str(), &address_ids, &since];
        // Planned for the table as it is now: of a plan that was made while it was tiny, any index is as good as another.
        let (_, rows, _) = tokio::try_join!(
            biased;
            self.execute_batch("SET LOCAL plan_cache_mode = force_custom_plan"),
            self.query_rows(MAILED_SINCE, &parameters),
            self.execute_batch("SET LOCAL plan_cache_mode = auto"),
        )?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Makes the cards of a batch, each with a code that nobody can guess. That one is taken already is as good as
    /// impossible; the batch is then refused, and made with other codes when it is tried again.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn insert_mailpieces(
        &self,
        batch: &MailpieceBatch<'_>,
        rows: &[MailpieceRow<'_>],
        now: DateTime<Utc>,
    ) -> Result<u64> {
        macro_rules! column {
            ($field:ident) => {
                rows.iter().map(|row| row.$field).collect::<Vec<_>>()
            };
        }
        let ids: Vec<Uuid> = rows.iter().map(|_| Uuid::now_v7()).collect();
        let codes = MailpieceCode::new_batch(rows.len());
        let codes: Vec<&str> = codes.iter().map(MailpieceCode::as_str).collect();
        let destinations: Vec<&str> = rows.iter().map(|row| row.destinations.as_str()).collect();
        let corrections: Vec<&str> = rows.iter().map(|row| row.corrections.as_str()).collect();
        let contents: Vec<String> = rows
            .iter()
            .map(|row| serde_json::to_string(&row.content))
            .collect::<std::result::Result<_, _>>()?;
        self.execute(
            CREATE,
            &[
                &batch.team_id.0,
                &batch.campaign_id.as_str(),
                &batch.step,
                &batch.charge_id.0,
                &batch.design_id.0,
                &batch.design_version,
                &batch.product,
                &batch.postage,
                &batch.price_cents,
                &batch.mail_by_date,
                &now,
                &ids,
                &column!(entry_id),
                &column!(address_id),
                &column!(first_name),
                &column!(last_name),
                &column!(line_1),
                &column!(line_2),
                &column!(city),
                &column!(state),
                &column!(zip),
                &column!(plus4),
                &column!(verification),
                &codes,
                &destinations,
                &corrections,
                &column!(center_entry_id),
                &contents,
                &column!(unit_apart),
                &batch.print_after,
                &batch.is_held.then_some(WithheldMailpiece::Held.as_str()),
            ],
        )
        .await
    }
}

/// One look into the index for each address, whatever the planner knows of a table that has just begun to grow: "= ANY" may
/// become a scan that compares every card with every address.
const MAILED_SINCE: &str = "
    SELECT address_id FROM unnest($3::uuid[]) AS sent (address_id)
    CROSS JOIN LATERAL (
        SELECT FROM mailpieces mailpiece
        WHERE mailpiece.team_id = $1 AND mailpiece.campaign_id = $2 AND mailpiece.address_id = sent.address_id
            AND mailpiece.created_at > $4 AND mailpiece.withheld IS DISTINCT FROM 'cancelled'
        ORDER BY mailpiece.created_at DESC LIMIT 1) AS mailed";

const CREATE: &str = "
    INSERT INTO mailpieces (team_id, campaign_id, step, charge_id, design_id, design_version, product, postage,
        price_cents, mail_by_date, created_at, mailpiece_id, entry_id, address_id, first_name, last_name, line_1, line_2,
        city, state, zip, plus4, verification, code, destinations, corrections, center_entry_id, content,
        unit_apart, print_after, withheld)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, mailpiece_id, entry_id, address_id, first_name, last_name,
        line_1, line_2, city, state, zip, plus4, verification, code, string_to_array(destinations, ' '),
        corrections, center_entry_id, content::jsonb, unit_apart, $30, $31
    FROM unnest($12::uuid[], $13::uuid[], $14::uuid[], $15::text[], $16::text[], $17::text[], $18::text[],
            $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[],
            $26::text[], $27::uuid[], $28::text[], $29::text[])
        AS new (mailpiece_id, entry_id, address_id, first_name, last_name, line_1, line_2, city, state, zip, plus4,
            verification, code, destinations, corrections, center_entry_id, content, unit_apart)";
