//! The entries of a team's address book.

use std::collections::HashMap;

use audience::{BuiltInColumn, ValueLookup};
use chrono::{DateTime, Utc};
use model::id::TeamId;
use serde_json::Value;
use uuid::Uuid;

use crate::error::Result;
use crate::pool::{Store, Transaction};
use crate::recipient::{BookRecipient, book_recipient_from_row};

/// An entry as a send leaves it. Empty texts and absent values leave what is stored.
#[derive(Debug, Clone)]
pub struct BookEntryRow<'a> {
    /// Derived from the verified address and the name.
    pub entry_id: Uuid,
    /// Derived from the verified address.
    pub address_id: Uuid,
    /// As sent, trimmed.
    pub first_name: &'a str,
    /// As sent, trimmed.
    pub last_name: &'a str,
    /// The verified delivery line.
    pub address_1: &'a str,
    /// The verified second line.
    pub address_2: &'a str,
    /// The unit of `address_1` that was sent in `address_2`, or empty.
    pub unit_apart: &'a str,
    /// Verified.
    pub city: &'a str,
    /// Verified, two letters.
    pub state: &'a str,
    /// Verified, five digits.
    pub zip: &'a str,
    /// Four digits, when known.
    pub plus4: Option<&'a str>,
    /// How far the address was verified.
    pub verification: &'a str,
    /// Degrees.
    pub latitude: Option<f64>,
    /// Degrees.
    pub longitude: Option<f64>,
    /// As sent, trimmed.
    pub email: &'a str,
    /// As sent, trimmed.
    pub phone: &'a str,
    /// As sent, trimmed.
    pub organization: &'a str,
    /// As sent, trimmed.
    pub birthday: &'a str,
    /// As read: month, day, and year when known.
    pub birth: Option<(i16, i16, Option<i16>)>,
    /// JSON object of custom values as sent, by folded column name.
    pub custom: String,
}

/// What is known of an entry besides what a request says, for filter conditions.
#[derive(Debug, Clone, Default)]
pub struct BookEntryValues {
    /// Stored e-mail address.
    pub email: String,
    /// Stored phone number.
    pub phone: String,
    /// Stored organization.
    pub organization: String,
    /// Stored birthday, as sent.
    pub birthday: String,
    /// Stored custom values, by folded column name.
    pub custom: HashMap<String, String>,
}

impl BookEntryValues {
    /// The stored value of a built-in column that a request may leave out; `None` for the others and for blanks.
    pub fn built_in(&self, column: BuiltInColumn) -> Option<&str> {
        let value = match column {
            BuiltInColumn::Email => &self.email,
            BuiltInColumn::Phone => &self.phone,
            BuiltInColumn::Organization => &self.organization,
            BuiltInColumn::Birthday => &self.birthday,
            _ => return None,
        };
        (!value.is_empty()).then_some(value.as_str())
    }
}

impl ValueLookup for BookEntryValues {
    fn value(&self, column: &str) -> Option<&str> {
        match BuiltInColumn::from_key(column) {
            Some(built_in) => self.built_in(built_in),
            None => self.custom.get(column).map(String::as_str),
        }
    }
}

impl Store {
    /// The stored values of these entries, by id; entries that do not exist are absent.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_entry_values(
        &self,
        team_id: TeamId,
        entry_ids: &[Uuid],
    ) -> Result<HashMap<Uuid, BookEntryValues>> {
        let rows = self
            .query_rows(
                "SELECT entry_id, email, phone, organization, birthday, custom FROM unnest($2::uuid[]) AS sent (entry_id)
                 CROSS JOIN LATERAL (
                     SELECT email, phone, organization, birthday, custom FROM address_entries entry
                     WHERE entry.team_id = $1 AND entry.entry_id = sent.entry_id LIMIT 1) AS stored",
                &[&team_id.0, &entry_ids],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| {
                let entry = BookEntryValues {
                    email: row.get(1),
                    phone: row.get(2),
                    organization: row.get(3),
                    birthday: row.get(4),
                    custom: custom_values(row.get(5)),
                };
                (row.get(0), entry)
            })
            .collect())
    }
}

impl Store {
    /// These entries with their addresses, by id; entries that do not exist are absent.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_book_recipients(
        &self,
        team_id: TeamId,
        entry_ids: &[Uuid],
    ) -> Result<HashMap<Uuid, BookRecipient>> {
        let rows = self
            .query_rows(
                "SELECT entry_id, address_id, first_name, last_name, address_1, address_2, unit_apart, city, state, zip,
                     plus4, verification, latitude, longitude, email, phone, organization, birthday, custom
                 FROM address_entries WHERE team_id = $1 AND entry_id = ANY ($2)",
                &[&team_id.0, &entry_ids],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| (row.get("entry_id"), book_recipient_from_row(row)))
            .collect())
    }
}

/// The texts of a stored object; anything else in it is not a value that a send wrote.
pub(crate) fn custom_values(custom: Value) -> HashMap<String, String> {
    let Value::Object(object) = custom else {
        return HashMap::new();
    };
    object
        .into_iter()
        .filter_map(|(name, value)| match value {
            Value::String(text) => Some((name, text)),
            _ => None,
        })
        .collect()
}

impl Transaction<'_> {
    /// Makes the entries or brings what is new into the stored ones; what is not new is not rewritten.
    /// `rows` hold each entry once, in the order of their ids, so that two requests cannot lock them crosswise.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn save_entries(
        &self,
        team_id: TeamId,
        rows: &[BookEntryRow<'_>],
        now: DateTime<Utc>,
    ) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        macro_rules! column {
            ($($field:ident).+) => { rows.iter().map(|row| row.$($field).+).collect::<Vec<_>>() };
        }
        let custom: Vec<&str> = rows.iter().map(|row| row.custom.as_str()).collect();
        let birth_months: Vec<Option<i16>> = rows
            .iter()
            .map(|row| row.birth.map(|birth| birth.0))
            .collect();
        let birth_days: Vec<Option<i16>> = rows
            .iter()
            .map(|row| row.birth.map(|birth| birth.1))
            .collect();
        let birth_years: Vec<Option<i16>> = rows
            .iter()
            .map(|row| row.birth.and_then(|birth| birth.2))
            .collect();
        self.execute(
            SAVE,
            &[
                &team_id.0,
                &now,
                &column!(entry_id),
                &column!(address_id),
                &column!(first_name),
                &column!(last_name),
                &column!(address_1),
                &column!(address_2),
                &column!(city),
                &column!(state),
                &column!(zip),
                &column!(plus4),
                &column!(verification),
                &column!(latitude),
                &column!(longitude),
                &column!(email),
                &column!(phone),
                &column!(organization),
                &column!(birthday),
                &birth_months,
                &birth_days,
                &birth_years,
                &custom,
                &column!(unit_apart),
            ],
        )
        .await
    }
}

const SAVE: &str = "
    INSERT INTO address_entries AS stored (
        team_id, created_at, updated_at, entry_id, address_id, first_name, last_name, address_1, address_2, city,
        state, zip, plus4, verification, latitude, longitude, email, phone, organization, birthday, birth_month,
        birth_day, birth_year, custom, unit_apart)
    SELECT $1, $2, $2, entry_id, address_id, first_name, last_name, address_1, address_2, city, state, zip, plus4,
        verification, latitude, longitude, email, phone, organization, birthday, birth_month, birth_day, birth_year,
        custom::jsonb, unit_apart
    FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
            $11::text[], $12::text[], $13::text[], $14::float8[], $15::float8[], $16::text[], $17::text[],
            $18::text[], $19::text[], $20::int2[], $21::int2[], $22::int2[], $23::text[], $24::text[])
        AS sent (entry_id, address_id, first_name, last_name, address_1, address_2, city, state, zip, plus4,
            verification, latitude, longitude, email, phone, organization, birthday, birth_month, birth_day,
            birth_year, custom, unit_apart)
    ON CONFLICT (team_id, entry_id) DO UPDATE SET
        updated_at = excluded.updated_at,
        plus4 = excluded.plus4,
        verification = excluded.verification,
        latitude = excluded.latitude,
        longitude = excluded.longitude,
        email = CASE WHEN excluded.email = '' THEN stored.email ELSE excluded.email END,
        phone = CASE WHEN excluded.phone = '' THEN stored.phone ELSE excluded.phone END,
        organization = CASE WHEN excluded.organization = '' THEN stored.organization ELSE excluded.organization END,
        birthday = CASE WHEN excluded.birthday = '' THEN stored.birthday ELSE excluded.birthday END,
        birth_month = CASE WHEN excluded.birthday = '' THEN stored.birth_month ELSE excluded.birth_month END,
        birth_day = CASE WHEN excluded.birthday = '' THEN stored.birth_day ELSE excluded.birth_day END,
        birth_year = CASE WHEN excluded.birthday = '' THEN stored.birth_year ELSE excluded.birth_year END,
        custom = stored.custom || excluded.custom,
        unit_apart = excluded.unit_apart
    WHERE NOT stored.custom @> excluded.custom
        OR stored.verification <> excluded.verification
        OR stored.unit_apart <> excluded.unit_apart
        OR stored.plus4 IS DISTINCT FROM excluded.plus4
        OR stored.latitude IS DISTINCT FROM excluded.latitude
        OR stored.longitude IS DISTINCT FROM excluded.longitude
        OR excluded.email NOT IN ('', stored.email)
        OR excluded.phone NOT IN ('', stored.phone)
        OR excluded.organization NOT IN ('', stored.organization)
        OR excluded.birthday NOT IN ('', stored.birthday)";
