//! The streets that points are on: which share a name with one that was written.

use address::{SimilarStreets, StandardStreet, StreetQuestion};

use crate::error::Result;
use crate::pool::Store;

/// The streets of a ZIP with these names, and for each address whether its street stands nearby as it was written (a
/// `street_key`) or with a longer name.
const NAMESAKES: &str = "
    SELECT asked.position, false AS is_nearby, false AS is_longer,
        street.predirectional, street.name, street.suffix, street.postdirectional
    FROM unnest($1::int8[], $2::int4[], $3::int8[]) AS asked (position, zip, name_key)
    CROSS JOIN LATERAL (SELECT * FROM address_streets street
        WHERE street.name_key = asked.name_key AND street.zip = asked.zip
        ORDER BY street.street_key LIMIT $9) street
    UNION ALL
    SELECT asked.position, true, asked.street_key IS NULL, NULL, NULL, NULL, NULL
    FROM unnest($4::int8[], $5::int4[], $6::int4[], $7::int8[], $8::int8[])
        AS asked (position, first_zip, last_zip, name_key, street_key)
    CROSS JOIN LATERAL (SELECT FROM address_streets street
        WHERE street.name_key = asked.name_key AND street.zip BETWEEN asked.first_zip AND asked.last_zip
            AND (asked.street_key IS NULL OR street.street_key = asked.street_key)
        LIMIT 1) nearby";

/// Streets of one name in one ZIP that are looked at: more than any ZIP has directionals and suffixes for one.
const STREETS_PER_NAME: i64 = 16;

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
        let asked = StreetNameQuery::from_questions(questions);
        let (here, nearby) = (&asked.here, &asked.nearby);
        let rows = self
            .query_rows(
                NAMESAKES,
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
                ],
            )
            .await?;
        for row in rows {
            let position: i64 = row.get(0);
            let Some(found) = namesakes.get_mut(position as usize) else {
                continue;
            };
            match (row.get(1), row.get(2)) {
                (true, true) => found.is_longer_nearby = true,
                (true, false) => found.is_written_nearby = true,
                (false, _) => found.in_zip.push(StandardStreet {
                    predirectional: row.get(3),
                    name: row.get(4),
                    suffix: row.get(5),
                    postdirectional: row.get(6),
                }),
            }
        }
        Ok(namesakes)
    }
}

/// Names that are asked about, column by column.
#[derive(Default)]
struct StreetNameQuery {
    here: NamesInZip,
    nearby: NamesNearby,
}

#[derive(Default)]
struct NamesInZip {
    position: Vec<i64>,
    zip: Vec<i32>,
    name_key: Vec<i64>,
}

#[derive(Default)]
struct NamesNearby {
    position: Vec<i64>,
    first_zip: Vec<i32>,
    last_zip: Vec<i32>,
    name_key: Vec<i64>,
    /// The street as it was written; `None` for any street of the name.
    street_key: Vec<Option<i64>>,
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
                asked.nearby.position.push(position);
                asked.nearby.first_zip.push(question.zips_nearby.0);
                asked.nearby.last_zip.push(question.zips_nearby.1);
                asked.nearby.name_key.push(name_key);
                asked.nearby.street_key.push(street_key);
            }
        }
        asked
    }
}
