//! The answer to a send, row by row (pure). What a later version of the service adds is ignored.

use serde::Deserialize;

use crate::upload::{RowResult, UNKNOWN};

/// The headings of a row's result.
pub(super) const HEADINGS: &[&str] = &[
    "reference",
    "status",
    "reason",
    "detail",
    "address",
    "product_type",
    "postage",
    "mail_by_date",
    "homes_found",
    "homes_mailed",
    "warnings",
    "return_address_reason",
];

/// What a mailed row counts as.
pub(super) const MAILED: &str = "mailed";

/// What a row counts as that would be mailed, in the answer to a dry run.
pub(super) const WOULD_MAIL: &str = "would_mail";

/// What a row counts as whose person was mailed a moment before.
pub(super) const DUPLICATE: &str = "duplicate_recent";

/// An answer with status 200.
#[derive(Debug, Deserialize)]
pub(super) struct SendBatchResponse {
    summary: SendBatchSummary,
    results: Vec<SentRowOutcome>,
    #[serde(default)]
    results_truncated: bool,
    /// Whether it answers a dry run.
    #[serde(default)]
    validated: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SendBatchSummary {
    not_mailed: usize,
    /// Of a dry run only.
    cost_cents: Option<i64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct SentRowOutcome {
    reference: Option<String>,
    address: String,
    status: String,
    reason: String,
    detail: String,
    product_type: String,
    postage: String,
    mail_by_date: String,
    #[serde(rename = "homesFound")]
    homes_found: Option<u64>,
    #[serde(rename = "homesMailed")]
    homes_mailed: Option<u64>,
    warnings: Vec<SentRowWarning>,
    return_address_reason: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct SentRowWarning {
    code: String,
    field: String,
}

impl SendBatchResponse {
    /// What the cards of a dry run would cost, in US cents; `None` of a send.
    pub(super) const fn cost_cents(&self) -> Option<i64> {
        self.summary.cost_cents
    }

    /// One result for each reference that was sent. A shortened answer leaves recipients out that were mailed without
    /// anything to say of them, and from some place on all that do not fit.
    pub(super) fn row_results(self, references: &[String]) -> Vec<RowResult> {
        if !self.results_truncated {
            return self
                .results
                .iter()
                .map(SentRowOutcome::to_row_result)
                .collect();
        }
        let mailed = if self.validated { WOULD_MAIL } else { MAILED };
        let is_mailed = |outcome: &SentRowOutcome| outcome.status == mailed;
        let told_not_mailed = self
            .results
            .iter()
            .filter(|outcome| !is_mailed(outcome))
            .count();
        let all_told = told_not_mailed == self.summary.not_mailed;
        let mut told = self.results.iter().peekable();
        references
            .iter()
            .map(|reference| {
                let own = told.next_if(|outcome| outcome.reference.as_deref() == Some(reference));
                // Before the last one that is told of, and when everybody is, who is left out was mailed.
                let status = if all_told || told.peek().is_some() {
                    mailed
                } else {
                    UNKNOWN
                };
                own.map_or_else(
                    || SentRowOutcome::left_out(reference, status),
                    SentRowOutcome::clone,
                )
                .to_row_result()
            })
            .collect()
    }
}

impl SentRowOutcome {
    fn left_out(reference: &str, status: &str) -> Self {
        Self {
            reference: Some(reference.to_owned()),
            status: status.to_owned(),
            detail: "The answer was too long to tell more of this row.".to_owned(),
            ..Self::default()
        }
    }

    fn to_row_result(&self) -> RowResult {
        let number =
            |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let warnings: Vec<String> = self
            .warnings
            .iter()
            .map(|warning| format!("{} ({})", warning.code, warning.field))
            .collect();
        let cells = vec![
            self.reference.clone().unwrap_or_default(),
            self.status.clone(),
            self.reason.clone(),
            self.detail.clone(),
            self.address.clone(),
            self.product_type.clone(),
            self.postage.clone(),
            self.mail_by_date.clone(),
            number(self.homes_found),
            number(self.homes_mailed),
            warnings.join("; "),
            self.return_address_reason.clone(),
        ];
        let counts_as = if self.reason.is_empty() {
            &self.status
        } else {
            &self.reason
        };
        RowResult {
            cells,
            counts_as: counts_as.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn count_outcomes(answer: Value, references: &[&str]) -> Vec<String> {
        let references: Vec<String> = references
            .iter()
            .map(|&reference| reference.to_owned())
            .collect();
        let answer: SendBatchResponse = serde_json::from_value(answer).unwrap();
        answer
            .row_results(&references)
            .into_iter()
            .map(|result| result.counts_as)
            .collect()
    }

    fn build_outcome(reference: &str, status: &str, reason: &str) -> Value {
        json!({"reference": reference, "address": "", "status": status, "reason": reason, "detail": ".", "new_field": 1})
    }

    #[test]
    fn a_whole_answer_tells_of_every_row_in_order() {
        let answer = json!({"summary": {"received": 2, "mailed": 1, "notMailed": 1},
            "results": [{"reference": "a", "status": "mailed", "detail": "."}, build_outcome("b", "not_mailed", "a_new_reason")]});
        assert_eq!(
            count_outcomes(answer, &["a", "b"]),
            ["mailed", "a_new_reason"]
        );
    }

    #[test]
    fn in_a_shortened_answer_who_is_left_out_before_the_last_was_mailed() {
        let results = json!([build_outcome("b", "not_mailed", "do_not_mail"), {"reference": "d", "status": "mailed"}]);
        let whole =
            json!({"summary": {"notMailed": 1}, "results": results, "results_truncated": true});
        let references = ["a", "b", "c", "d", "e"];
        assert_eq!(
            count_outcomes(whole, &references),
            ["mailed", "do_not_mail", "mailed", "mailed", "mailed"]
        );
        let cut_off =
            json!({"summary": {"notMailed": 2}, "results": results, "results_truncated": true});
        assert_eq!(
            count_outcomes(cut_off, &references),
            ["mailed", "do_not_mail", "mailed", "mailed", "unknown"]
        );
        let results = json!([{"reference": "b", "status": "would_mail"}]);
        let dry = json!({"validated": true, "summary": {"notMailed": 0}, "results": results, "results_truncated": true});
        assert_eq!(count_outcomes(dry, &["a", "b", "c"]), ["would_mail"; 3]);
    }
}
