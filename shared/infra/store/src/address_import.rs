//! Taking files of address points in: how far each file is, and the points in bulk.

use std::collections::{BTreeMap, HashSet};
use std::pin::pin;

use bytes::{BufMut, BytesMut};
use chrono::{DateTime, Utc};
use futures_util::SinkExt;

use crate::address_point::AddressPointRow;
use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction};

/// How far the import of a file is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportProgress {
    /// Bytes of the unpacked file whose rows are in the tables.
    pub position: u64,
    /// Rows read.
    pub rows_read: u64,
    /// Rows taken in.
    pub rows_kept: u64,
    /// Rows left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Whether the whole file is in.
    pub is_finished: bool,
}

/// The staging table lives in the session: no write-ahead log, nobody else sees it.
const STAGE: &str = "
    CREATE TEMPORARY TABLE IF NOT EXISTS staged_points (
        zip integer, address_id uuid, cell bigint, latitude double precision, longitude double precision,
        line_1 text, city text, state text, plus4 text, residential boolean) ON COMMIT DELETE ROWS";

const COPY: &str = "COPY staged_points FROM STDIN BINARY";

/// The signature, flags and extension length that open PostgreSQL's binary copy format.
const COPY_HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Bytes of a copy message.
const COPY_CHUNK_BYTES: usize = 64 * 1024;

impl Store {
    /// How far the file is, from nothing when it is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_address_import(&self, file_hash: &[u8; 32]) -> Result<ImportProgress> {
        let sql = "SELECT position, rows_read, rows_kept, skipped, finished_at IS NOT NULL
                   FROM address_imports WHERE file_hash = $1";
        let hash: &[u8] = file_hash;
        let Some(row) = self.query_row(sql, &[&hash]).await? else {
            return Ok(ImportProgress::default());
        };
        let number = |column: usize| row.get::<_, i64>(column).cast_unsigned();
        Ok(ImportProgress {
            position: number(0),
            rows_read: number(1),
            rows_kept: number(2),
            skipped: serde_json::from_value(row.get(3))?,
            is_finished: row.get(4),
        })
    }

    /// Forgets how far a file is, so that it is read again from its start.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn delete_address_import(&self, file_hash: &[u8; 32]) -> Result<()> {
        let hash: &[u8] = file_hash;
        self.execute("DELETE FROM address_imports WHERE file_hash = $1", &[&hash])
            .await?;
        Ok(())
    }

    /// Refreshes what the planner knows of the points, after many came in.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn analyze_address_points(&self) -> Result<()> {
        let client = self.client().await?;
        client
            .batch_execute("ANALYZE address_points, address_streets, address_zips")
            .await?;
        Ok(())
    }
}

impl Transaction<'_> {
    /// Notes how far a file is.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn save_address_import(
        &self,
        file_hash: &[u8; 32],
        name: &str,
        progress: &ImportProgress,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let hash: &[u8] = file_hash;
        self.execute(
            "INSERT INTO address_imports (file_hash, name, position, rows_read, rows_kept, skipped, started_at, finished_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN $7::timestamptz END)
             ON CONFLICT (file_hash) DO UPDATE SET position = excluded.position, rows_read = excluded.rows_read,
                 rows_kept = excluded.rows_kept, skipped = excluded.skipped, finished_at = excluded.finished_at",
            &[
                &hash,
                &name,
                &progress.position.cast_signed(),
                &progress.rows_read.cast_signed(),
                &progress.rows_kept.cast_signed(),
                &serde_json::to_value(&progress.skipped)?,
                &now,
                &progress.is_finished,
            ],
        )
        .await?;
        Ok(())
    }

    /// Copies rows into the session's staging table, which is empty again after the transaction.
    pub(crate) async fn stage_address_points(&self, rows: &[AddressPointRow]) -> Result<()> {
        self.execute_batch(STAGE).await?;
        let mut sink = pin!(self.copy_in(COPY).await?);
        let mut buffer = BytesMut::with_capacity(COPY_CHUNK_BYTES + 1024);
        buffer.put_slice(COPY_HEADER);
        for row in rows {
            put_row(&mut buffer, row)?;
            if buffer.len() >= COPY_CHUNK_BYTES {
                sink.send(buffer.split().freeze()).await?;
            }
        }
        buffer.put_i16(-1);
        sink.send(buffer.freeze()).await?;
        sink.finish().await?;
        Ok(())
    }

    /// Adds the streets that the rows are on.
    pub(crate) async fn insert_address_streets(&self, rows: &[AddressPointRow]) -> Result<u64> {
        let mut seen = HashSet::new();
        let mut streets: Vec<&AddressPointRow> = rows
            .iter()
            .filter(|row| seen.insert((row.key.zip, row.key.street_key)))
            .collect();
        streets.sort_unstable_by_key(|row| (row.key.zip, row.key.street_key));
        macro_rules! column {
            ($row:ident => $value:expr) => {
                streets.iter().map(|$row| $value).collect::<Vec<_>>()
            };
        }
        self.execute(
            "INSERT INTO address_streets SELECT * FROM unnest($1::int4[], $2::int8[], $3::int8[], $4::text[],
                 $5::text[], $6::text[], $7::text[])
             ON CONFLICT (zip, street_key) DO NOTHING",
            &[
                &column!(row => row.key.zip),
                &column!(row => row.key.street_key),
                &column!(row => row.key.name_key),
                &column!(row => row.street.predirectional.as_str()),
                &column!(row => row.street.name.as_str()),
                &column!(row => row.street.suffix.as_str()),
                &column!(row => row.street.postdirectional.as_str()),
            ],
        )
        .await
    }
}

/// One row in the binary copy format: each field behind its length.
fn put_row(buffer: &mut BytesMut, row: &AddressPointRow) -> Result<()> {
    const FIELDS: i16 = 10;
    buffer.put_i16(FIELDS);
    put_field(buffer, &row.key.zip.to_be_bytes())?;
    put_field(buffer, row.key.address_id.as_uuid().as_bytes())?;
    put_field(
        buffer,
        &address::cell_at(row.latitude, row.longitude).to_be_bytes(),
    )?;
    put_field(buffer, &row.latitude.to_be_bytes())?;
    put_field(buffer, &row.longitude.to_be_bytes())?;
    put_field(buffer, row.line_1.as_bytes())?;
    put_field(buffer, row.city.as_bytes())?;
    put_field(buffer, row.state.as_bytes())?;
    match &row.plus4 {
        Some(plus4) => put_field(buffer, plus4.as_bytes())?,
        None => buffer.put_i32(-1),
    }
    match row.residential {
        Some(residential) => put_field(buffer, &[u8::from(residential)])?,
        None => buffer.put_i32(-1),
    }
    Ok(())
}

fn put_field(buffer: &mut BytesMut, bytes: &[u8]) -> Result<()> {
    let length = i32::try_from(bytes.len())
        .map_err(|_| StoreError::Corrupt("a point's field".to_owned()))?;
    buffer.put_i32(length);
    buffer.put_slice(bytes);
    Ok(())
}
