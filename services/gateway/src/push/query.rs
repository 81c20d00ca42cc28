//! Query parameters. Those that are unknown are ignored; of one given twice the last counts.

use std::collections::HashMap;

use contract::push::{IssueKind, PushError};
use model::id::SyncId;
use model::limits::{CURSOR_DIGITS, PAGE_ITEMS, PAGE_ITEMS_DEFAULT};
use serde_json::{Map, Value};
use store::IssueFilter;

/// The parameters of one request.
pub(crate) struct PushQuery(HashMap<String, String>);

impl PushQuery {
    /// Reads what stands behind the question mark.
    pub(crate) fn parse(query: &str) -> Self {
        Self(
            url::form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The parameters in a JSON object, each as it would be written in a query; null is as absent.
    pub(crate) fn from_arguments(arguments: &Map<String, Value>) -> Self {
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        Self(
            arguments
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), text(value)?)))
                .collect(),
        )
    }

    /// A parameter as it was sent.
    pub(crate) fn get_value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// `syncId`. Errors: `invalid_sync_id`.
    pub(super) fn sync_id(&self, name: &str) -> Result<Option<SyncId>, PushError> {
        self.get_value(name)
            .map(str::parse)
            .transpose()
            .map_err(|_| PushError::InvalidSyncId)
    }

    /// `type`, rejections unless it says otherwise. Errors: `invalid_type`.
    pub(super) fn issue_kind(&self) -> Result<IssueKind, PushError> {
        match self.get_value("type") {
            None => Ok(IssueKind::Rejection),
            Some(name) => name.parse().map_err(|()| PushError::InvalidType),
        }
    }

    /// `resolved`: with `false` only what is not resolved. Any other value is ignored.
    pub(super) fn issue_filter(&self) -> IssueFilter {
        match self.get_value("resolved") {
            Some("false") => IssueFilter::Unresolved,
            _ => IssueFilter::All,
        }
    }

    /// `after`, a number of digits; 0 when absent. Errors: `invalid_cursor`.
    pub(super) fn after_cursor(&self) -> Result<i64, PushError> {
        let Some(text) = self.get_value("after") else {
            return Ok(0);
        };
        if text.len() > CURSOR_DIGITS || !is_digits(text) {
            return Err(PushError::InvalidCursor);
        }
        text.parse().map_err(|_| PushError::InvalidCursor)
    }

    /// `limit`. Errors: `invalid_limit`.
    pub(super) fn limit(&self) -> Result<i64, PushError> {
        let Some(text) = self.get_value("limit") else {
            return Ok(PAGE_ITEMS_DEFAULT);
        };
        let number = if is_digits(text) {
            text.parse().ok()
        } else {
            None
        };
        number
            .filter(|limit| (1..=PAGE_ITEMS).contains(limit))
            .ok_or(PushError::InvalidLimit)
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzz_query() {
        let samples = [
            "after=17&limit=100&type=warning",
            "syncId=01938f3e-7b1c-7d33-9f00-0123456789ab&validate=1",
            "a=%zz&&=&a=b+c",
        ];
        let words = [
            "after=",
            "limit=",
            "type=",
            "syncId=",
            "&",
            "%",
            "%00",
            "%D9%A1",
            "999999999999999",
            "+",
        ];
        fuzz::Target::new(samples)
            .words(words)
            .cases(3_000)
            .run_text(|text| {
                let query = PushQuery::parse(text);
                if let Ok(limit) = query.limit() {
                    proptest::prop_assert!((1..=PAGE_ITEMS).contains(&limit));
                }
                if let Ok(after) = query.after_cursor() {
                    proptest::prop_assert!((0..1_000_000_000_000_000).contains(&after));
                }
                if let Ok(Some(id)) = query.sync_id("syncId") {
                    proptest::prop_assert_eq!(id.to_string().parse(), Ok(id));
                }
                let _ = query.issue_kind();
                Ok(())
            });
    }

    #[test]
    fn invalid_limit_is_all_but_a_whole_number_from_1_to_1000() {
        let limit = |query: &str| PushQuery::parse(query).limit();
        assert_eq!(limit(""), Ok(100));
        assert_eq!(
            (limit("limit=1"), limit("limit=1000"), limit("limit=007")),
            (Ok(1), Ok(1000), Ok(7))
        );
        for wrong in [
            "",
            "0",
            "1001",
            "-1",
            "1.5",
            "1e2",
            "ten",
            "%2B5",
            " 5",
            "99999999999999999999",
        ] {
            assert_eq!(
                limit(&format!("limit={wrong}")),
                Err(PushError::InvalidLimit),
                "{wrong}"
            );
        }
    }

    #[test]
    fn invalid_cursor_is_all_but_1_to_15_digits() {
        let after = |query: &str| PushQuery::parse(query).after_cursor();
        assert_eq!((after(""), after("after=0")), (Ok(0), Ok(0)));
        assert_eq!(after("after=999999999999999"), Ok(999_999_999_999_999));
        for wrong in ["", "1000000000000000", "-1", "x", "%D9%A1", "1 "] {
            assert_eq!(
                after(&format!("after={wrong}")),
                Err(PushError::InvalidCursor),
                "{wrong}"
            );
        }
    }

    #[test]
    fn arguments_are_read_as_parameters() {
        let serde_json::Value::Object(arguments) = serde_json::json!({
            "limit": 7, "after": "3", "type": "warning", "syncId": null, "more": []
        }) else {
            panic!("an object");
        };
        let query = PushQuery::from_arguments(&arguments);
        assert_eq!(
            (query.limit(), query.after_cursor(), query.sync_id("syncId")),
            (Ok(7), Ok(3), Ok(None))
        );
        assert_eq!(query.issue_kind(), Ok(IssueKind::Warning));
        assert_eq!(query.get_value("more"), Some("[]"));
    }

    #[test]
    fn invalid_sync_id_and_invalid_type() {
        assert_eq!(
            PushQuery::parse("syncId=7").sync_id("syncId"),
            Err(PushError::InvalidSyncId)
        );
        assert_eq!(
            PushQuery::parse("syncId=").sync_id("syncId"),
            Err(PushError::InvalidSyncId)
        );
        assert_eq!(
            PushQuery::parse("type=Warning").issue_kind(),
            Err(PushError::InvalidType)
        );
        assert_eq!(
            PushQuery::parse("type=warning&more=1").issue_kind(),
            Ok(IssueKind::Warning)
        );
    }
}
