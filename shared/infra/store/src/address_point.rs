//! Address points: looking addresses up, finding homes around a place, and taking points in.

use address::{AddressId, DeliveryPoint, PointEvidence, PointKey, StandardStreet};
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::error::Result;
use crate::pool::{Store, Transaction};

/// What the points of a ZIP say of an address.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressPointFacts {
    /// Points in the ZIP.
    pub points_in_zip: i64,
    /// How much of the address they know.
    pub evidence: PointEvidence,
    /// Whether the operator vouches for the address.
    pub is_overridden: bool,
}

/// A home that lies around a center.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborhoodHome {
    /// Its address.
    pub address_id: Uuid,
    /// The delivery line, unit included.
    pub line_1: String,
    /// Post office name.
    pub city: String,
    /// Two letters.
    pub state: String,
    /// Five digits.
    pub zip: String,
    /// Four digits, when known.
    pub plus4: Option<String>,
    /// Degrees north and east.
    pub place: (f64, f64),
}

/// The homes around one center.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Neighborhood {
    /// Homes inside the radius.
    pub found: usize,
    /// The nearest of them, nearest first.
    pub homes: Vec<NeighborhoodHome>,
}

/// Subqueries with a limit keep the plan to look-ups in the keys, whatever the statistics say. An address gets a row for
/// what is known of it, and none in a ZIP without points.
const LOOK_UP: &str = "
    SELECT asked.position, in_zip.points, known_street.found IS NOT NULL,
        exact.latitude, exact.longitude, exact.plus4, exact.residential,
        house.latitude, house.longitude, house.plus4, house.residential, house.address_id = asked.house_id
    FROM unnest($1::int4[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int8[]) WITH ORDINALITY
        AS asked (zip, address_id, house_id, house_end, street_key, position)
    CROSS JOIN LATERAL (SELECT points FROM address_zips WHERE zip = asked.zip AND points > 0 LIMIT 1) in_zip
    LEFT JOIN LATERAL (SELECT true AS found FROM address_streets
        WHERE zip = asked.zip AND street_key = asked.street_key ORDER BY street_key LIMIT 1) known_street ON true
    LEFT JOIN LATERAL (SELECT latitude, longitude, plus4, residential FROM address_points
        WHERE zip = asked.zip AND address_id = asked.address_id LIMIT 1) exact ON true
    -- The last of the house: a unit, if it has any.
    LEFT JOIN LATERAL (SELECT address_id, latitude, longitude, plus4, residential FROM address_points
        WHERE zip = asked.zip AND address_id BETWEEN asked.house_id AND asked.house_end
        ORDER BY zip DESC, address_id DESC LIMIT 1) house ON true
    UNION ALL
    SELECT asked.position, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (address_id, position)
    CROSS JOIN LATERAL (SELECT FROM address_overrides WHERE address_id = asked.address_id LIMIT 1) overridden";

impl Store {
    /// What points say of these addresses, in their order. One round trip.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn look_up_address_points(
        &self,
        keys: &[PointKey],
    ) -> Result<Vec<AddressPointFacts>> {
        let nothing = AddressPointFacts {
            points_in_zip: 0,
            evidence: PointEvidence::Nothing,
            is_overridden: false,
        };
        let mut facts = vec![nothing; keys.len()];
        if keys.is_empty() {
            return Ok(facts);
        }
        macro_rules! column {
            ($key:ident => $value:expr) => {
                keys.iter().map(|$key| $value).collect::<Vec<_>>()
            };
        }
        let rows = self
            .query_rows(
                LOOK_UP,
                &[
                    &column!(key => key.zip),
                    &column!(key => key.address_id.as_uuid()),
                    &column!(key => key.address_id.without_unit().as_uuid()),
                    &column!(key => key.address_id.last_unit_id().as_uuid()),
                    &column!(key => key.street_key),
                ],
            )
            .await?;
        for row in &rows {
            let position: i64 = row.get(0);
            let Some(fact) = facts.get_mut(position as usize - 1) else {
                continue;
            };
            match row.get(1) {
                Some(points_in_zip) => {
                    fact.points_in_zip = points_in_zip;
                    fact.evidence = point_evidence_from_row(row);
                }
                None => fact.is_overridden = true,
            }
        }
        Ok(facts)
    }

    /// The homes within `radius_metres` of each center (degrees north and east), nearest first, `limit` each at the
    /// most. The cost follows the homes in the circles.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_homes_around(
        &self,
        centers: &[(f64, f64)],
        radius_metres: f64,
        limit: usize,
    ) -> Result<Vec<Neighborhood>> {
        let mut neighborhoods = vec![Neighborhood::default(); centers.len()];
        let ranges = CellRanges::around(centers, radius_metres);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self
            .query_rows(
                HOMES,
                &[
                    &ranges.position,
                    &ranges.latitude,
                    &ranges.longitude,
                    &ranges.low,
                    &ranges.high,
                    &radius_metres,
                    &limit,
                ],
            )
            .await?;
        for row in &rows {
            let position: i32 = row.get(0);
            let neighborhood = &mut neighborhoods[position as usize];
            let found: i64 = row.get(1);
            neighborhood.found = found as usize;
            let zip: i32 = row.get(6);
            neighborhood.homes.push(NeighborhoodHome {
                address_id: row.get(2),
                line_1: row.get(3),
                city: row.get(4),
                state: row.get(5),
                zip: format!("{zip:05}"),
                plus4: row.get(7),
                place: (row.get(8), row.get(9)),
            });
        }
        Ok(neighborhoods)
    }
}

fn point_evidence_from_row(row: &tokio_postgres::Row) -> PointEvidence {
    let place = |column: usize| {
        let latitude: Option<f64> = row.get(column);
        latitude.map(|latitude| DeliveryPoint {
            latitude,
            longitude: row.get(column + 1),
            plus4: row.get(column + 2),
            residential: row.get(column + 3),
        })
    };
    let house_has_no_units: Option<bool> = row.get(11);
    match (place(3), place(7)) {
        (Some(exact), _) => PointEvidence::DeliveryPoint(exact),
        (None, Some(house)) if house_has_no_units == Some(true) => {
            PointEvidence::DeliveryPoint(house)
        }
        (None, Some(house)) => PointEvidence::House(DeliveryPoint {
            plus4: None,
            residential: None,
            ..house
        }),
        (None, None) if row.get(2) => PointEvidence::Street,
        (None, None) => PointEvidence::Nothing,
    }
}

/// The ranges of cells to search, each with its center.
#[derive(Default)]
struct CellRanges {
    position: Vec<i32>,
    latitude: Vec<f64>,
    longitude: Vec<f64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl CellRanges {
    fn around(centers: &[(f64, f64)], radius_metres: f64) -> Self {
        let mut ranges = Self::default();
        for (position, &(latitude, longitude)) in centers.iter().enumerate() {
            for (low, high) in address::cells_around(latitude, longitude, radius_metres) {
                // Centers are bounded by what a request may hold.
                ranges.position.push(position as i32);
                ranges.latitude.push(latitude);
                ranges.longitude.push(longitude);
                ranges.low.push(low);
                ranges.high.push(high);
            }
        }
        ranges
    }
}

/// Every circle's points come out of the index by their ranges; then distances are taken, counted and put in order.
const HOMES: &str = "
    SELECT position, found, address_id, line_1, city, state, zip, plus4, latitude, longitude
    FROM (
        SELECT near.*, count(*) OVER (PARTITION BY position) AS found,
            row_number() OVER (PARTITION BY position ORDER BY distance, zip, address_id) AS rank
        FROM (
            SELECT searched.position, point.*,
                2 * 6371008.8 * asin(least(1, sqrt(
                    sin(radians(point.latitude - searched.latitude) / 2) ^ 2
                    + cos(radians(searched.latitude)) * cos(radians(point.latitude))
                        * sin(radians(point.longitude - searched.longitude) / 2) ^ 2))) AS distance
            FROM unnest($1::int4[], $2::float8[], $3::float8[], $4::int8[], $5::int8[])
                AS searched (position, latitude, longitude, low, high)
            CROSS JOIN LATERAL (SELECT * FROM address_points
                WHERE cell BETWEEN searched.low AND searched.high AND residential IS NOT FALSE
                OFFSET 0) point
        ) near
        WHERE distance <= $6
    ) ranked
    WHERE rank <= $7
    ORDER BY position, rank";

/// A point to be taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressPointRow {
    /// Where it is looked up.
    pub key: PointKey,
    /// Its street.
    pub street: StandardStreet,
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// The standardised delivery line, unit included.
    pub line_1: String,
    /// Post office name.
    pub city: String,
    /// Two letters.
    pub state: String,
    /// Four digits, when known.
    pub plus4: Option<String>,
    /// Whether it is a home, when known.
    pub residential: Option<bool>,
}

/// An address that the operator vouches for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AddressOverride {
    /// One line.
    pub address: String,
    /// Why.
    pub note: String,
    /// Since when.
    pub added_at: DateTime<Utc>,
}

impl Store {
    /// Vouches for an address. Returns whether it is new; an old one gets the note.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn save_address_override(
        &self,
        address_id: AddressId,
        address: &str,
        note: &str,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let row = self
            .query_row(
                "INSERT INTO address_overrides (address_id, address, note, added_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (address_id) DO UPDATE SET note = excluded.note
                 RETURNING xmax = 0",
                &[&address_id.as_uuid(), &address, &note, &now],
            )
            .await?;
        Ok(row.is_some_and(|row| row.get(0)))
    }

    /// No longer vouches for an address. Returns whether it did.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn delete_address_override(&self, address_id: AddressId) -> Result<bool> {
        let sql = "DELETE FROM address_overrides WHERE address_id = $1";
        Ok(self.execute(sql, &[&address_id.as_uuid()]).await? == 1)
    }

    /// The addresses that the operator vouches for, the newest first; at most `limit`.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn list_address_overrides(&self, limit: i64) -> Result<Vec<AddressOverride>> {
        let sql = "SELECT address, note, added_at FROM address_overrides ORDER BY added_at DESC, address_id LIMIT $1";
        let rows = self.query_rows(sql, &[&limit]).await?;
        let row = |row: &tokio_postgres::Row| AddressOverride {
            address: row.get(0),
            note: row.get(1),
            added_at: row.get(2),
        };
        Ok(rows.iter().map(row).collect())
    }
}

impl Transaction<'_> {
    /// Takes points in, each address once. One that is there already gets the newer place; what the newer source does
    /// not say stays. Returns how many are new.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn merge_address_points(&self, rows: &[AddressPointRow]) -> Result<u64> {
        self.stage_address_points(rows).await?;
        let row = self.query_row(MERGE, &[]).await?;
        self.insert_address_streets(rows).await?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0)) as u64)
    }
}

pub(crate) const MERGE: &str = "
    WITH merged AS (
        INSERT INTO address_points AS stored
        SELECT * FROM staged_points
        ON CONFLICT (zip, address_id) DO UPDATE SET
            cell = excluded.cell, latitude = excluded.latitude, longitude = excluded.longitude,
            plus4 = coalesce(excluded.plus4, stored.plus4),
            residential = coalesce(stored.residential OR excluded.residential, excluded.residential, stored.residential)
        WHERE (stored.cell, stored.plus4, stored.residential) IS DISTINCT FROM (excluded.cell,
            coalesce(excluded.plus4, stored.plus4),
            coalesce(stored.residential OR excluded.residential, excluded.residential, stored.residential))
        RETURNING zip, xmax = 0 AS is_new
    ), counted AS (
        INSERT INTO address_zips AS counted (zip, points)
        SELECT zip, count(*) FROM merged WHERE is_new GROUP BY zip ORDER BY zip
        ON CONFLICT (zip) DO UPDATE SET points = counted.points + excluded.points
    )
    SELECT count(*) FROM merged WHERE is_new";
