//! The push API: batches of records, and declarations of fields.

use contract::push::{FieldSchema, IntegrationField, check_batch, read_declaration, split_batch};
use fuzz::Target;
use model::limits::{DECLARED_FIELDS, RECORDS_PER_BATCH};
use proptest::{prop_assert, prop_assert_eq};
use serde_json::json;

const DECLARATION: &str = r#"{"fields": [{"key": "first", "semantic": "first_name"}, {"key": "age", "label": "Age", "type": "number"},
    {"key": "born", "type": "date"}, {"key": "vip", "type": "yes_no"}, {"key": "size", "type": "choice", "options": ["S", "M"]}]}"#;

const BATCHES: [&str; 3] = [
    r#"{"records": [{"external_id": "1", "fields": {"first": "Nina", "age": "1,234.50", "born": "2026-01-31", "vip": true, "size": "S"}}]}"#,
    r#"{"records": [{"external_id": 7, "op": "delete"}, {"external_id": "7", "op": "upsert", "fields": {"born": "1/31/26", "age": -0.0}}]}"#,
    r#"{"records": [{"external_id": "a", "fields": {"first": null, "first": "x", "none": [[]]}}, 3, "x", null, {}]}"#,
];

const WORDS: [&str; 14] = [
    "\"external_id\"",
    "\"fields\"",
    "\"op\"",
    "\"delete\"",
    "\"records\"",
    "\"2026-02-30\"",
    "\"0000-01-01\"",
    "\"2/29/2024\"",
    "$12",
    "\"choice\"",
    "\"options\"",
    "\\u0000",
    "\\ud800",
    "{\"external_id\": \"1\"},",
];

fn fields() -> Vec<IntegrationField> {
    read_declaration(DECLARATION.as_bytes()).unwrap()
}

#[test]
fn fuzz_push_batch() {
    let fields = fields();
    Target::new(BATCHES).words(WORDS).cases(3_000).run(|body| {
        let Ok(batch) = split_batch(body) else {
            return Ok(());
        };
        prop_assert!(batch.records.len() <= RECORDS_PER_BATCH);
        let checked = check_batch(&batch, &FieldSchema::new(&fields));
        let answer = checked.answer();
        prop_assert_eq!(
            answer.accepted + answer.deleted + answer.rejected,
            batch.records.len()
        );
        let dry = checked.dry_run_answer();
        prop_assert_eq!(
            (dry.accepted, dry.rejected),
            (answer.accepted + answer.deleted, answer.rejected)
        );
        let ids = checked
            .upserts
            .iter()
            .map(|upsert| &upsert.external_id)
            .chain(&checked.deletes);
        for id in ids.chain(&checked.rejected_ids) {
            prop_assert!(
                (1..=128).contains(&id.chars().count()) && !id.contains('\0'),
                "{id:?}"
            );
        }
        // What was accepted is accepted again as it is stored, and is the same.
        for upsert in &checked.upserts {
            let stored =
                json!({"records": [{"external_id": upsert.external_id, "fields": upsert.values}]})
                    .to_string();
            let again = split_batch(stored.as_bytes()).unwrap();
            let again = check_batch(&again, &FieldSchema::new(&fields));
            prop_assert_eq!(again.upserts.len(), 1, "{}", stored);
            prop_assert_eq!(
                again.upserts[0].values.fingerprint(),
                upsert.values.fingerprint(),
                "{}",
                stored
            );
        }
        Ok(())
    });
}

#[test]
fn fuzz_push_declaration() {
    Target::new([DECLARATION]).words(WORDS).run(|body| {
        let Ok(fields) = read_declaration(body) else {
            return Ok(());
        };
        prop_assert!(fields.len() <= DECLARED_FIELDS);
        let written = json!({"fields": fields}).to_string();
        prop_assert_eq!(read_declaration(written.as_bytes()).unwrap(), fields);
        Ok(())
    });
}
