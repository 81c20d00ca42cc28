//! Recipients received by a campaign, and what is already known of their addresses.

use std::collections::{HashMap, HashSet};

use address::AddressId;
use chrono::{DateTime, Utc};
use contract::send::NotMailedReason;
use model::id::{CampaignId, ChargeId, TeamId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::entry::{BookEntryValues, custom_values};
use crate::error::Result;
use crate::pool::{Store, Transaction};

/// A recipient with the outcome of a send.
#[derive(Debug, Clone)]
pub struct RecipientRow<'a> {
    /// The address-book entry, or an id derived from the address as sent when it could not be verified.
    pub entry_id: Uuid,
    /// The verified address, or the same for one as sent.
    pub address_id: Uuid,
    /// As sent.
    pub first_name: &'a str,
    /// As sent.
    pub last_name: &'a str,
    /// One line.
    pub address: &'a str,
    /// The sender's own id.
    pub reference: Option<&'a str>,
    /// `None` when mailed.
    pub reason: Option<NotMailedReason>,
    /// Whether the outcome hangs on the request's charge.
    pub hangs_on_charge: bool,
    /// How far the address was verified, or why it was not.
    pub verification: String,
}

/// What is known of a request's addresses before it is decided. All by address id.
#[derive(Debug, Clone, Default)]
pub struct RecipientListings {
    /// Addresses of recipients whom the sender removed from the campaign.
    pub removed: HashSet<Uuid>,
    /// Addresses on the campaign's do-not-mail list.
    pub do_not_mail: HashSet<Uuid>,
    /// Addresses from which a mailpiece of the team came back, with the moment; none for a campaign that mails them all the same.
    pub returned: HashMap<Uuid, DateTime<Utc>>,
    /// Addresses waiting on filter conditions.
    pub waiting: HashSet<Uuid>,
}

impl RecipientListings {
    /// Why nobody at this address is mailed, whoever it is: removed before listed, in the contract's order.
    pub fn refusal(&self, address_id: Uuid) -> Option<NotMailedReason> {
        if self.removed.contains(&address_id) {
            Some(NotMailedReason::RemovedBySender)
        } else if self.do_not_mail.contains(&address_id) || self.returned.contains_key(&address_id)
        {
            Some(NotMailedReason::DoNotMail)
        } else {
            None
        }
    }
}

fn listings_from_rows(rows: &[Row]) -> RecipientListings {
    let mut facts = RecipientListings::default();
    for row in rows {
        let address_id: Uuid = row.get(1);
        match row.get(0) {
            "removed" => facts.removed.insert(address_id),
            "do_not_mail" => facts.do_not_mail.insert(address_id),
            "returned" => facts.returned.insert(address_id, row.get(2)).is_none(),
            _ => facts.waiting.insert(address_id),
        };
    }
    facts
}

/// A recipient that waits on filter conditions.
#[derive(Debug, Clone)]
pub struct BookRecipient {
    /// Its entry.
    pub entry_id: Uuid,
    /// Its address.
    pub address_id: Uuid,
    /// Who lives where, as the address book has it.
    pub entry: BookEntryAddress,
    /// Its stored values.
    pub values: BookEntryValues,
}

/// Name and verified address of an entry.
#[derive(Debug, Clone)]
pub struct BookEntryAddress {
    /// First name.
    pub first_name: String,
    /// Last name.
    pub last_name: String,
    /// Delivery line.
    pub address_1: String,
    /// Second line.
    pub address_2: String,
    /// The unit of `address_1` that was sent in `address_2`, or empty.
    pub unit_apart: String,
    /// City.
    pub city: String,
    /// State.
    pub state: String,
    /// Five digits.
    pub zip: String,
    /// Four digits, when known.
    pub plus4: Option<String>,
    /// How far it was verified.
    pub verification: String,
    /// Degrees.
    pub latitude: Option<f64>,
    /// Degrees.
    pub longitude: Option<f64>,
}

/// One look into an index for each address and list, as in [`Transaction::find_mailed_addresses_since`].
const FACTS: &str = "
    SELECT 'removed' AS fact, address_id, NULL::timestamptz FROM unnest($3::uuid[]) AS sent (address_id)
    CROSS JOIN LATERAL (SELECT FROM recipients
        WHERE team_id = $1 AND campaign_id = $2 AND recipients.address_id = sent.address_id
            AND removed_at IS NOT NULL LIMIT 1) AS removed
    UNION ALL
    SELECT 'do_not_mail', address_id, NULL FROM unnest($3::uuid[]) AS sent (address_id)
    CROSS JOIN LATERAL (SELECT FROM do_not_mail
        WHERE campaign_id = $2 AND do_not_mail.address_id = sent.address_id LIMIT 1) AS listed
    UNION ALL
    SELECT 'returned', address_id, returned.returned_at FROM unnest($3::uuid[]) AS sent (address_id)
    CROSS JOIN LATERAL (SELECT returned_at FROM returned_addresses
        WHERE team_id = $1 AND returned_addresses.address_id = sent.address_id LIMIT 1) AS returned
    WHERE NOT coalesce((SELECT mails_returned FROM campaigns WHERE campaign_id = $2), false)
    UNION ALL
    SELECT 'waiting', address_id, NULL FROM unnest($3::uuid[]) AS sent (address_id)
    CROSS JOIN LATERAL (SELECT FROM recipients
        WHERE team_id = $1 AND campaign_id = $2 AND recipients.address_id = sent.address_id
            AND reason = 'filtered_conditions' LIMIT 1) AS waiting";

/// What the removal of an address from a campaign came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRemoval {
    /// The address as people write it; `None` when the campaign has received nobody there.
    pub address: Option<String>,
    /// All recipients there.
    pub recipients: usize,
    /// Those of them that were not removed before.
    pub newly_removed: usize,
}

impl Store {
    /// What is known of these addresses.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_recipient_listings(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        address_ids: &[Uuid],
    ) -> Result<RecipientListings> {
        Ok(listings_from_rows(
            &self
                .query_rows(FACTS, &[&team_id.0, &campaign_id.as_str(), &address_ids])
                .await?,
        ))
    }

    /// Recipients of the campaign that wait on filter conditions, in the order of their addresses, after the one with the
    /// entry `after`, nil for the first; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_waiting_recipients(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        after: Uuid,
        limit: i64,
    ) -> Result<Vec<BookRecipient>> {
        let rows = self
            .query_rows(
                WAITING,
                &[&team_id.0, &campaign_id.as_str(), &after, &limit],
            )
            .await?;
        Ok(rows.iter().map(book_recipient_from_row).collect())
    }

    /// How many recipients of the campaign have each outcome: `mailed`, or the reason.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn count_recipients_by_outcome(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<HashMap<String, i64>> {
        let rows = self
            .query_rows(
                "SELECT coalesce(reason, status), count(*) FROM recipients
                 WHERE team_id = $1 AND campaign_id = $2 GROUP BY 1",
                &[&team_id.0, &campaign_id.as_str()],
            )
            .await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }
}

/// An entry out of a row with all its columns.
pub(crate) fn book_recipient_from_row(row: &Row) -> BookRecipient {
    BookRecipient {
        entry_id: row.get("entry_id"),
        address_id: row.get("address_id"),
        entry: BookEntryAddress {
            first_name: row.get("first_name"),
            last_name: row.get("last_name"),
            address_1: row.get("address_1"),
            address_2: row.get("address_2"),
            unit_apart: row.get("unit_apart"),
            city: row.get("city"),
            state: row.get("state"),
            zip: row.get("zip"),
            plus4: row.get("plus4"),
            verification: row.get("verification"),
            latitude: row.get("latitude"),
            longitude: row.get("longitude"),
        },
        values: BookEntryValues {
            email: row.get("email"),
            phone: row.get("phone"),
            organization: row.get("organization"),
            birthday: row.get("birthday"),
            custom: custom_values(row.get("custom")),
        },
    }
}

const WAITING: &str = "
    SELECT recipient.entry_id, recipient.address_id, entry.first_name, entry.last_name, entry.address_1,
        entry.address_2, entry.unit_apart, entry.city, entry.state, entry.zip, entry.plus4, entry.verification, entry.latitude,
        entry.longitude, entry.email, entry.phone, entry.organization, entry.birthday, entry.custom
    FROM recipients recipient JOIN address_entries entry USING (team_id, entry_id)
    WHERE recipient.team_id = $1 AND recipient.campaign_id = $2 AND recipient.reason = 'filtered_conditions'
        AND (recipient.address_id, recipient.entry_id) > (
            coalesce((SELECT last.address_id FROM recipients last
                WHERE last.team_id = $1 AND last.campaign_id = $2 AND last.entry_id = $3), $3), $3)
    ORDER BY recipient.address_id, recipient.entry_id LIMIT $4";

impl Transaction<'_> {
    /// What is known of these addresses. Who is removed and who is listed is true until the transaction ends when the
    /// campaign is locked.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_recipient_listings(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        address_ids: &[Uuid],
    ) -> Result<RecipientListings> {
        Ok(listings_from_rows(
            &self
                .query_rows(FACTS, &[&team_id.0, &campaign_id.as_str(), &address_ids])
                .await?,
        ))
    }

    /// Removes the recipients at an address from the campaign: they are not mailed again, and no later step mails them. Cards
    /// queued already still go, unless the campaign cancels them.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn remove_recipients_at(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        address_id: Uuid,
        now: DateTime<Utc>,
    ) -> Result<AddressRemoval> {
        self.lock_campaign_lists(campaign_id).await?;
        self.withhold_unwanted_mailpieces(campaign_id, &[address_id])
            .await?;
        let address = AddressId::from(address_id);
        let house = (
            address.without_unit().as_uuid(),
            address.last_unit_id().as_uuid(),
        );
        let by_house = self
            .remove_recipient_range(team_id, campaign_id, address_id, house, now)
            .await?;
        if by_house.recipients > 0 {
            return Ok(by_house);
        }
        // Entries made before their ids began with the house can be anywhere.
        self.remove_recipient_range(
            team_id,
            campaign_id,
            address_id,
            (Uuid::nil(), Uuid::max()),
            now,
        )
        .await
    }

    async fn remove_recipient_range(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        address_id: Uuid,
        (first, last): (Uuid, Uuid),
        now: DateTime<Utc>,
    ) -> Result<AddressRemoval> {
        // Whose removal is not of now was removed before: the campaign is locked, so nobody else removes at this moment.
        let rows = self
            .query_rows(
                "UPDATE recipients SET removed_at = coalesce(removed_at, $4),
                     status = CASE WHEN reason = 'filtered_conditions' THEN 'not_mailed' ELSE status END,
                     reason = CASE WHEN reason = 'filtered_conditions' THEN 'removed_by_sender' ELSE reason END
                 WHERE team_id = $1 AND campaign_id = $2 AND entry_id BETWEEN $5 AND $6 AND address_id = $3
                 RETURNING address, removed_at = $4",
                &[&team_id.0, &campaign_id.as_str(), &address_id, &now, &first, &last],
            )
            .await?;
        Ok(AddressRemoval {
            address: rows.first().map(|row| row.get(0)),
            recipients: rows.len(),
            newly_removed: rows.iter().filter(|row| row.get(1)).count(),
        })
    }

    /// Notes the recipients' outcomes. One that was mailed stays so when it is sent again and not mailed; one that
    /// was removed keeps that. `rows` hold each entry once, in the order of their ids.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn save_recipients(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        charge_id: ChargeId,
        rows: &[RecipientRow<'_>],
        now: DateTime<Utc>,
    ) -> Result<u64> {
        macro_rules! column {
            ($field:ident) => {
                rows.iter().map(|row| row.$field).collect::<Vec<_>>()
            };
        }
        let verifications: Vec<&str> = rows.iter().map(|row| row.verification.as_str()).collect();
        let reasons: Vec<Option<&str>> = rows
            .iter()
            .map(|row| row.reason.map(NotMailedReason::as_str))
            .collect();
        self.execute(
            SAVE,
            &[
                &team_id.0,
                &campaign_id.as_str(),
                &charge_id.0,
                &now,
                &column!(entry_id),
                &column!(address_id),
                &column!(first_name),
                &column!(last_name),
                &column!(address),
                &column!(reference),
                &reasons,
                &column!(hangs_on_charge),
                &verifications,
            ],
        )
        .await
    }

    /// Marks waiting recipients as mailed by this charge. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn mark_recipients_mailed(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
        charge_id: ChargeId,
        entry_ids: &[Uuid],
    ) -> Result<u64> {
        self.execute(
            "UPDATE recipients SET status = 'mailed', reason = NULL, charge_id = $3
             WHERE team_id = $1 AND campaign_id = $2 AND entry_id = ANY ($4) AND reason = 'filtered_conditions'",
            &[&team_id.0, &campaign_id.as_str(), &charge_id.0, &entry_ids],
        )
        .await
    }

    /// What a declined charge leaves of the recipients that hung on it: this reason, and mailed where an earlier card of theirs
    /// is paid. Returns how many of them were to be mailed, and how many were copies of these.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn decline_recipients(
        &self,
        team_id: TeamId,
        charge_id: ChargeId,
        reason: NotMailedReason,
    ) -> Result<(i64, i64)> {
        let row = self
            .query_row(DECLINE, &[&team_id.0, &charge_id.0, &reason.as_str()])
            .await?;
        Ok(row.map_or((0, 0), |row| (row.get(0), row.get(1))))
    }
}

/// A center's earlier cards are looked for at its own address, the nearest home to it: no index has them by their center.
const DECLINE: &str = "
    WITH declined AS (
        UPDATE recipients recipient SET charge_id = before.paid_by,
            status = CASE WHEN before.paid_by IS NULL THEN 'not_mailed' ELSE 'mailed' END,
            reason = CASE WHEN before.paid_by IS NULL THEN $3 END
        FROM (SELECT hanging.campaign_id, hanging.entry_id, hanging.status, paid.charge_id AS paid_by
            FROM recipients hanging LEFT JOIN LATERAL (
                SELECT mailpiece.charge_id FROM mailpieces mailpiece JOIN charges charge USING (team_id, charge_id)
                WHERE mailpiece.team_id = $1 AND mailpiece.campaign_id = hanging.campaign_id
                    AND mailpiece.address_id = hanging.address_id AND charge.state = 'settled'
                    AND mailpiece.withheld IS DISTINCT FROM 'cancelled'
                    AND coalesce(mailpiece.center_entry_id, mailpiece.entry_id) = hanging.entry_id
                ORDER BY mailpiece.created_at DESC LIMIT 1) paid ON true
            WHERE hanging.team_id = $1 AND hanging.charge_id = $2) before
        WHERE recipient.team_id = $1 AND recipient.campaign_id = before.campaign_id
            AND recipient.entry_id = before.entry_id
        RETURNING before.status = 'mailed' AS was_mailed)
    SELECT count(*) FILTER (WHERE was_mailed), count(*) FILTER (WHERE NOT was_mailed) FROM declined";

/// That the recipients are to be found by name and address is only noted here; see [`Store::fill_recipient_search`].
const SAVE: &str = "
    WITH noted AS (
        INSERT INTO recipients_unsearched (team_id, campaign_id, received_at) VALUES ($1, $2, $4)
    )
    INSERT INTO recipients AS stored (team_id, campaign_id, entry_id, address_id, first_name, last_name, address,
        reference, status, reason, charge_id, received_at, verification)
    SELECT $1, $2, entry_id, address_id, first_name, last_name, address, reference,
        CASE WHEN reason IS NULL THEN 'mailed' ELSE 'not_mailed' END, reason,
        CASE WHEN hangs_on_charge THEN $3::uuid END, $4, verification
    FROM unnest($5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bool[],
            $13::text[])
        AS sent (entry_id, address_id, first_name, last_name, address, reference, reason, hangs_on_charge, verification)
    ON CONFLICT (team_id, campaign_id, entry_id) DO UPDATE SET
        first_name = excluded.first_name, last_name = excluded.last_name, address = excluded.address,
        reference = excluded.reference, status = excluded.status, reason = excluded.reason,
        charge_id = excluded.charge_id, received_at = excluded.received_at, verification = excluded.verification
    WHERE stored.status <> 'mailed' OR excluded.status = 'mailed'";
