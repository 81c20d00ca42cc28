//! Walking over a table in portions, in the order of an index: each is a short transaction of its own, so that no snapshot
//! grows old and nobody waits, however many rows there are.

use std::time::{Duration, Instant};

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::Result;
use crate::pool::Store;

/// Rows of the first portion. Those that follow are as large as makes them take about [`PORTION_TIME`].
const FIRST_ROWS: i64 = 500;

/// Rows of a portion at the most.
const MOST_ROWS: i64 = 100_000;

/// What a portion is to take.
const PORTION_TIME: Duration = Duration::from_secs(1);

/// What a statement may take; a portion that takes longer is tried again with fewer rows.
const STATEMENT_TIMEOUT_MS: i64 = 15_000;

/// By so much a portion that took too long is made smaller.
const SHRINK: i64 = 8;

/// The columns of an index that is walked along.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexKey {
    pub(super) table: &'static str,
    /// Which rows; those of a partial index.
    pub(super) filter: &'static str,
    pub(super) columns: &'static [IndexColumn],
}

/// A column's name and type.
#[derive(Debug, Clone, Copy)]
pub(super) enum IndexColumn {
    Uuid(&'static str),
    Time(&'static str),
    Text(&'static str),
}

/// A place in the index: a value for each column.
pub(super) type IndexPosition = Vec<String>;

/// Rows behind one place until another.
pub(super) struct IndexPortion {
    /// What the statement found in it.
    pub(super) found: Vec<Row>,
    /// How many rows were looked at, about.
    pub(super) rows: i64,
    /// `None` when nothing is behind it.
    until: Option<IndexPosition>,
}

/// How many rows the next portion has.
struct PortionSizer {
    rows: i64,
}

impl IndexColumn {
    const fn name(self) -> &'static str {
        match self {
            Self::Uuid(name) | Self::Time(name) | Self::Text(name) => name,
        }
    }

    const fn sql_type(self) -> &'static str {
        match self {
            Self::Uuid(_) => "uuid",
            Self::Time(_) => "timestamptz",
            Self::Text(_) => "text",
        }
    }

    /// Before all values, and behind them. Only the first column's counts, which is never a text.
    const fn outer_bounds(self) -> [&'static str; 2] {
        match self {
            Self::Uuid(_) => [
                "00000000-0000-0000-0000-000000000000",
                "ffffffff-ffff-ffff-ffff-ffffffffffff",
            ],
            Self::Time(_) => ["-infinity", "infinity"],
            Self::Text(_) => ["", ""],
        }
    }
}

impl IndexKey {
    fn outer_bound(&self, which: usize) -> IndexPosition {
        self.columns
            .iter()
            .map(|column| column.outer_bounds()[which].to_owned())
            .collect()
    }

    fn column_names(&self) -> String {
        self.columns
            .iter()
            .map(|column| column.name())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The parameters from the `first` on as a place.
    fn position_sql(&self, first: usize) -> String {
        let values = self.columns.iter().zip(first..);
        let values =
            values.map(|(column, number)| format!("${number}::text::{}", column.sql_type()));
        values.collect::<Vec<_>>().join(", ")
    }

    /// The condition that a row is in the portion.
    fn range_condition(&self) -> String {
        let (names, count) = (self.column_names(), self.columns.len());
        format!(
            "({names}) > ({}) AND ({names}) <= ({})",
            self.position_sql(1),
            self.position_sql(1 + count)
        )
    }

    /// A rule's statement with so many parameters of its own, as it is sent.
    pub(super) fn statement(&self, sql: &str, parameters: usize) -> String {
        let sql = sql.replace("{range}", &self.range_condition());
        (1..=parameters).fold(sql, |sql, number| {
            let place = format!("${}", 2 * self.columns.len() + number);
            sql.replace(&format!("{{{number}}}"), &place)
        })
    }

    /// The place of the last row of a portion. Ordered by the columns themselves: a bare name would be that of the text.
    pub(super) fn boundary_sql(&self) -> String {
        let texts: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("{}::text", column.name()))
            .collect();
        let order: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("{}.{}", self.table, column.name()))
            .collect();
        format!(
            "SELECT {} FROM {} WHERE {} AND ({names}) > ({}) ORDER BY {} OFFSET ${} LIMIT 1",
            texts.join(", "),
            self.table,
            self.filter,
            self.position_sql(1),
            order.join(", "),
            self.columns.len() + 1,
            names = self.column_names(),
        )
    }
}

impl PortionSizer {
    const fn new() -> Self {
        Self { rows: FIRST_ROWS }
    }

    /// A portion took so long.
    fn record_duration(&mut self, time: Duration) {
        if time > PORTION_TIME {
            self.rows = (self.rows / 2).max(1);
        } else if time < PORTION_TIME / 4 {
            self.rows = (self.rows * 2).min(MOST_ROWS);
        }
    }

    /// A portion was given up; false when it cannot be smaller.
    fn shrink(&mut self) -> bool {
        let was = self.rows;
        self.rows = (was / SHRINK).max(1);
        self.rows < was
    }
}

impl Store {
    /// Runs a statement on each portion of a table. In it `{range}` stands for the condition that a row is in the portion, and
    /// `{1}`, `{2}` and so on for the other parameters. `take` gets what was found, and whether to go on is what it gives.
    pub(super) async fn walk_check_portions(
        &self,
        key: &IndexKey,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
        mut take: impl FnMut(&IndexPortion) -> bool,
    ) -> Result<()> {
        let sql = key.statement(sql, parameters.len());
        let (mut after, mut pace) = (key.outer_bound(0), PortionSizer::new());
        loop {
            let begun = Instant::now();
            let portion = match self
                .query_check_portion(key, &sql, parameters, &after, pace.rows)
                .await
            {
                Err(error) if error.is_timeout() && pace.shrink() => continue,
                portion => portion?,
            };
            pace.record_duration(begun.elapsed());
            let goes_on = take(&portion);
            match portion.until {
                Some(until) if goes_on => after = until,
                _ => return Ok(()),
            }
        }
    }

    async fn query_check_portion(
        &self,
        key: &IndexKey,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
        after: &IndexPosition,
        rows: i64,
    ) -> Result<IndexPortion> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin_transaction().await?;
        transaction.apply_check_settings().await?;
        let mut bounds: Vec<&(dyn ToSql + Sync)> = after.iter().map(|value| value as _).collect();
        let offset = rows - 1;
        bounds.push(&offset);
        let row = transaction.query_row(&key.boundary_sql(), &bounds).await?;
        let until = row.map(|row| {
            (0..key.columns.len())
                .map(|column| row.get(column))
                .collect::<IndexPosition>()
        });
        let last = until.clone().unwrap_or_else(|| key.outer_bound(1));
        bounds.pop();
        bounds.extend(last.iter().map(|value| value as &(dyn ToSql + Sync)));
        bounds.extend_from_slice(parameters);
        let found = transaction.query_rows(sql, &bounds).await?;
        transaction.commit().await?;
        Ok(IndexPortion { found, rows, until })
    }
}

impl crate::pool::Transaction<'_> {
    /// What a statement of the check may do. Plans are made for the values at hand, and along indexes: what is known of a portion's
    /// size is too little for the planner not to read whole tables now and then.
    pub(super) async fn apply_check_settings(&self) -> Result<()> {
        let sql = "SELECT set_config('statement_timeout', $1, true), set_config('transaction_read_only', 'on', true),
            set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true)";
        self.execute(sql, &[&STATEMENT_TIMEOUT_MS.to_string()])
            .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portion_is_as_large_as_its_time_allows_and_never_empty() {
        let mut pace = PortionSizer::new();
        for _ in 0..20 {
            pace.record_duration(Duration::from_millis(10));
        }
        assert_eq!(pace.rows, MOST_ROWS);
        pace.record_duration(Duration::from_secs(2));
        assert_eq!(pace.rows, MOST_ROWS / 2);
        while pace.shrink() {}
        assert_eq!(pace.rows, 1);
    }

    #[test]
    fn the_statements_of_a_walk() {
        let key = IndexKey {
            table: "charges",
            filter: "true",
            columns: &[IndexColumn::Uuid("team_id"), IndexColumn::Text("id")],
        };
        assert_eq!(
            key.range_condition(),
            "(team_id, id) > ($1::text::uuid, $2::text::text) AND (team_id, id) <= ($3::text::uuid, $4::text::text)"
        );
        assert_eq!(
            key.boundary_sql(),
            "SELECT team_id::text, id::text FROM charges WHERE true AND (team_id, id) > ($1::text::uuid, $2::text::text) \
             ORDER BY charges.team_id, charges.id OFFSET $3 LIMIT 1"
        );
    }
}
