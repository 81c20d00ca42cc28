//! The streets that points are on: which share a name, or an end of it, with one that was written.

use address::{SimilarStreets, StandardStreet, StreetQuestion};

use crate::error::Result;
use crate::pool::Store;

/// What a row says: a street of the ZIP with one of the names asked about, that the street stands nearby as it was written
/// or with a longer name, a ZIP of the city's in which it stands as it was written, a street of the ZIP that shares an end
/// of its name.
const NAMESAKE: i32 = 0;
const WRITTEN_NEARBY: i32 = 1;
const LONGER_NEARBY: i32 = 2;
const WRITTEN_IN_CITY: i32 = 3;
const ALIKE: i32 = 4;

/// Everything along an index, and bounded for each address.
const SIMILAR: &str = "
    SELECT asked.position, 0 AS kind, street.zip,
        street.predirectional, street.name, street.suffix, street.postdirectional
    FROM unnest($1::int8[], $2::int4[], $3::int8[]) AS asked (position, zip, name_key)
    CROSS JOIN LATERAL (SELECT * FROM address_streets street
        WHERE street.name_key = asked.name_key AND street.zip = asked.zip
        ORDER BY street.street_key LIMIT $9) street
    UNION ALL
    SELECT asked.position, CASE WHEN asked.street_key IS NULL THEN 2 ELSE 1 END, 0, NULL, NULL, NULL, NULL
    FROM unnest($4::int8[], $5::int4[], $6::int4[], $7::int8[], $8::int8[])
        AS asked (position, first_zip, last_zip, name_key, street_key)
    CROSS JOIN LATERAL (SELECT FROM address_streets street
        WHERE street.name_key = asked.name_key AND street.zip BETWEEN asked.first_zip AND asked.last_zip
            AND (asked.street_key IS NULL OR street.street_key = asked.street_key)
        LIMIT 1) nearby
    UNION ALL
    SELECT asked.position, 3, in_city.zip, NULL, NULL, NULL, NULL
    FROM unnest($10::int8[], $11::int4[], $12::int4[], $13::int8[], $14::int8[])
        AS asked (position, first_zip, last_zip, name_key, street_key)
    CROSS JOIN LATERAL (SELECT street.zip FROM address_streets street
        WHERE street.name_key = asked.name_key AND street.zip BETWEEN asked.first_zip AND asked.last_zip
            AND street.street_key = asked.street_key
        LIMIT $15) in_city
    UNION ALL
    SELECT asked.position, 4, alike.zip, alike.predirectional, alike.name, alike.suffix, alike.postdirectional
    FROM unnest($16::int8[], $17::int4[], $18::text[], $19::text[], $20::int4[])
        AS asked (position, zip, beginning, reversed_end, length)
    CROSS JOIN LATERAL (
        (SELECT * FROM address_streets street
        WHERE street.zip = asked.zip AND lower(street.name) COLLATE \"C\" >= asked.beginning
            AND lower(street.name) COLLATE \"C\" < asked.beginning || '~'
            AND length(street.name) BETWEEN asked.length - 1 AND asked.length + 1
        LIMIT $21)
        UNION
        (SELECT * FROM address_streets street
        WHERE street.zip = asked.zip AND reverse(lower(street.name)) COLLATE \"C\" >= asked.reversed_end
            AND reverse(lower(street.name)) COLLATE \"C\" < asked.reversed_end || '~'
            AND length(street.name) BETWEEN asked.length - 1 AND asked.length + 1
        LIMIT $21)) alike";

/// Streets of one name in one ZIP that are looked at: more than any ZIP has directionals and suffixes for one.
const STREETS_PER_NAME: i64 = 16;

/// ZIPs of a city that are looked at: one more than any city has, with those of others between them.
const ZIPS_PER_CITY: i64 = 512;

/// Streets of one ZIP that share an end of a name. Where there are more, which is the one nobody can tell.
const STREETS_PER_END: i64 = 128;

impl Store {
    /// For each written street what is known of its namesakes, in the order asked. One round trip.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn find_similar_streets(
        &self,
        questions: &[StreetQuestion],
    ) -> Result<Vec<SimilarStreets>> {
        let mut namesakes = vec![SimilarStreets::default(); questions.len()];
        if questions.is_empty() {
            return Ok(namesakes);
        }
        let asked = StreetNameQuery::from_questions(questions);
        let (here, nearby, in_city, alike) =
            (&asked.here, &asked.nearby, &asked.in_city, &asked.alike);
        let rows = self
            .query_rows(
                SIMILAR,
                &[
                    &here.position,
                    &here.zip,
                    &here.name_key,
                    &nearby.position,
                    &nearby.first_zip,
                    &nearby.last_zip,
                    &nearby.name_key,
                    &nearby.street_key,
                    &STREETS_PER_NAME,
                    &in_city.position,
                    &in_city.first_zip,
                    &in_city.last_zip,
                    &in_city.name_key,
                    &in_city.street_key,
                    &ZIPS_PER_CITY,
                    &alike.position,
                    &alike.zip,
                    &alike.beginning,
                    &alike.reversed_end,
                    &alike.length,
                    &STREETS_PER_END,
                ],
            )
            .await?;
        for row in rows {
            let position: i64 = row.get(0);
            let Some(found) = namesakes.get_mut(position as usize) else {
                continue;
            };
            match row.get(1) {
                NAMESAKE => found.in_zip.push(street_from_row(&row)),
                WRITTEN_NEARBY => found.is_written_nearby = true,
                LONGER_NEARBY => found.is_longer_nearby = true,
                WRITTEN_IN_CITY => found.written_zips.push(row.get(2)),
                ALIKE => found.alike_in_zip.push(street_from_row(&row)),
                _ => {}
            }
        }
        for found in &mut namesakes {
            if found.alike_in_zip.len() >= STREETS_PER_END as usize {
                // Some may have been left out.
                found.alike_in_zip.clear();
            }
        }
        Ok(namesakes)
    }
}

fn street_from_row(row: &tokio_postgres::Row) -> StandardStreet {
    StandardStreet {
        predirectional: row.get(3),
        name: row.get(4),
        suffix: row.get(5),
        postdirectional: row.get(6),
    }
}

/// Names that are asked about, column by column.
#[derive(Default)]
struct StreetNameQuery {
    here: NamesInZip,
    nearby: NamesInZips,
    in_city: NamesInZips,
    alike: EndsInZip,
}

#[derive(Default)]
struct EndsInZip {
    position: Vec<i64>,
    zip: Vec<i32>,
    beginning: Vec<String>,
    reversed_end: Vec<String>,
    length: Vec<i32>,
}

#[derive(Default)]
struct NamesInZip {
    position: Vec<i64>,
    zip: Vec<i32>,
    name_key: Vec<i64>,
}

#[derive(Default)]
struct NamesInZips {
    position: Vec<i64>,
    first_zip: Vec<i32>,
    last_zip: Vec<i32>,
    name_key: Vec<i64>,
    /// The street as it was written; `None` for any street of the name.
    street_key: Vec<Option<i64>>,
}

impl NamesInZips {
    fn push(
        &mut self,
        position: i64,
        (first_zip, last_zip): (i32, i32),
        name_key: i64,
        street_key: Option<i64>,
    ) {
        self.position.push(position);
        self.first_zip.push(first_zip);
        self.last_zip.push(last_zip);
        self.name_key.push(name_key);
        self.street_key.push(street_key);
    }
}

impl StreetNameQuery {
    fn from_questions(questions: &[StreetQuestion]) -> Self {
        let mut asked = Self::default();
        for (position, question) in (0..).zip(questions) {
            let written = (question.name_key, Some(question.street_key));
            let longer = question
                .longer_name_keys
                .iter()
                .map(|name_key| (*name_key, None));
            for (name_key, street_key) in std::iter::once(written).chain(longer) {
                asked.here.position.push(position);
                asked.here.zip.push(question.zip);
                asked.here.name_key.push(name_key);
                asked
                    .nearby
                    .push(position, question.zips_nearby, name_key, street_key);
            }
            if let Some(zips) = question.zips_of_city {
                asked
                    .in_city
                    .push(position, zips, question.name_key, Some(question.street_key));
            }
            if let Some(ends) = &question.name_ends {
                asked.alike.position.push(position);
                asked.alike.zip.push(question.zip);
                asked.alike.beginning.push(ends.beginning.clone());
                asked.alike.reversed_end.push(ends.reversed_end.clone());
                asked.alike.length.push(ends.length);
            }
        }
        asked
    }
}
