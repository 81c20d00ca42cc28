//! The proof that mailpieces, charges, budgets, the ledger and the duplicate guard agree.

mod rules;
mod walk;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use self::rules::{CheckMethod, CheckParameter, RULES, SumComparison};
use self::walk::IndexPortion;
use crate::error::{Result, StoreError};
use crate::pool::Store;

/// Discrepancies of one kind that are listed at the most.
const LISTED: i64 = 100;

/// How often a total that is not the sum of its rows is looked at: a charge that is declined between the portions and the total
/// is in neither.
const LOOKS: usize = 3;

/// Something that does not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Discrepancy {
    /// The rule that is broken.
    pub rule: String,
    /// The row it is broken in.
    pub subject: String,
    /// The figures that do not agree.
    pub detail: String,
}

/// How far a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckProgress {
    /// The rule that is being checked.
    pub rule: &'static str,
    /// Its number, from 1.
    pub number: usize,
    /// Rows looked at for it, about.
    pub rows: i64,
}

/// A total that is not the sum of its rows.
struct SumMismatch {
    group: String,
    subject: String,
    detail: String,
}

impl Store {
    /// Checks every rule, in portions that take a second or so each: beside live work, however many rows there are. Charges
    /// reserved before `stuck_before` count as stuck; an address may be mailed once in `duplicate_days`. `tell` hears how far
    /// it is. Reads whole tables: for an operator, not for a request.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn check_consistency(
        &self,
        stuck_before: DateTime<Utc>,
        duplicate_days: i32,
        mut tell: impl FnMut(CheckProgress),
    ) -> Result<Vec<Discrepancy>> {
        let mut found = Vec::new();
        for (rule, number) in RULES.iter().zip(1..) {
            let mut rows = 0;
            let mut count = |portion: &IndexPortion| {
                rows += portion.rows;
                tell(CheckProgress {
                    rule: rule.name,
                    number,
                    rows,
                });
            };
            let broken = match &rule.check {
                CheckMethod::Portions { key, sql, needs } => {
                    let listed: (&_, &_) = (&LISTED, &duplicate_days);
                    let parameters: &[&(dyn tokio_postgres::types::ToSql + Sync)] = match needs {
                        CheckParameter::Nothing => &[listed.0],
                        CheckParameter::StuckBefore => &[listed.0, &stuck_before],
                        CheckParameter::DuplicateDays => &[listed.0, listed.1],
                    };
                    let mut broken: Vec<(String, String)> = Vec::new();
                    self.walk_check_portions(key, sql, parameters, |portion| {
                        count(portion);
                        broken.extend(portion.found.iter().map(|row| (row.get(0), row.get(1))));
                        broken.len() < max_listed()
                    })
                    .await?;
                    broken
                }
                CheckMethod::Sums(sums) => self.check_sums(sums, &mut count).await?,
            };
            found.extend(
                broken
                    .into_iter()
                    .take(max_listed())
                    .map(|(subject, detail)| Discrepancy {
                        rule: rule.name.to_owned(),
                        subject,
                        detail,
                    }),
            );
        }
        Ok(found)
    }

    /// The names of the rules that [`Store::check_consistency`] checks.
    pub fn check_rule_names() -> impl Iterator<Item = &'static str> {
        RULES.iter().map(|rule| rule.name)
    }

    /// The statements that [`Store::check_consistency`] sends, each with its rule's name: for a test of their plans.
    pub fn check_statements() -> Vec<(&'static str, String)> {
        let mut statements = Vec::new();
        for rule in RULES {
            let walked = match &rule.check {
                CheckMethod::Portions { key, sql, needs } => {
                    let parameters = if *needs == CheckParameter::Nothing {
                        1
                    } else {
                        2
                    };
                    vec![(key, *sql, parameters)]
                }
                CheckMethod::Sums(sums) => vec![
                    (&sums.rows, sums.rows_sql, 1),
                    (&sums.totals, sums.totals_sql, 1),
                ],
            };
            for (key, sql, parameters) in walked {
                statements.push((rule.name, key.boundary_sql()));
                statements.push((rule.name, key.statement(sql, parameters)));
            }
        }
        statements
    }

    async fn check_sums(
        &self,
        sums: &SumComparison,
        count: &mut impl FnMut(&IndexPortion),
    ) -> Result<Vec<(String, String)>> {
        let mut mismatches = self.check_sums_once(sums, count).await?;
        for _ in 1..LOOKS {
            if mismatches.is_empty() {
                break;
            }
            let before: HashSet<String> = mismatches
                .into_iter()
                .map(|mismatch| mismatch.group)
                .collect();
            mismatches = self.check_sums_once(sums, count).await?;
            mismatches.retain(|mismatch| before.contains(&mismatch.group));
        }
        Ok(mismatches
            .into_iter()
            .map(|mismatch| (mismatch.subject, mismatch.detail))
            .collect())
    }

    async fn check_sums_once(
        &self,
        sums: &SumComparison,
        count: &mut impl FnMut(&IndexPortion),
    ) -> Result<Vec<SumMismatch>> {
        let recent: Uuid = self
            .query_row("SELECT first_id_of(now() - interval '1 hour')", &[])
            .await?
            .ok_or_else(|| StoreError::Corrupt("the time".to_owned()))?
            .get(0);
        let mut summed: HashMap<String, i64> = HashMap::new();
        self.walk_check_portions(&sums.rows, sums.rows_sql, &[&recent], |portion| {
            count(portion);
            for row in &portion.found {
                *summed.entry(row.get(0)).or_default() += row.get::<_, i64>(1);
            }
            true
        })
        .await?;
        let mut mismatches = Vec::new();
        self.walk_check_portions(&sums.totals, sums.totals_sql, &[&recent], |portion| {
            count(portion);
            for row in &portion.found {
                let (group, total, recent): (String, i64, i64) =
                    (row.get(0), row.get(2), row.get(3));
                let sum = summed.get(&group).copied().unwrap_or(0) + recent;
                if total != sum {
                    let detail = format!("{total} cents, {}: {sum}", sums.label);
                    mismatches.push(SumMismatch {
                        group,
                        subject: row.get(1),
                        detail,
                    });
                }
            }
            true
        })
        .await?;
        Ok(mismatches)
    }
}

fn max_listed() -> usize {
    usize::try_from(LISTED).unwrap_or(usize::MAX)
}
