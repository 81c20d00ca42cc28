use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::push::batch::split_batch;
use crate::push::field::FieldType;

fn build_field(
    key: &str,
    field_type: FieldType,
    semantic: Option<FieldSemantic>,
) -> IntegrationField {
    IntegrationField {
        key: key.to_owned(),
        label: key.to_owned(),
        field_type,
        options: Vec::new(),
        semantic,
    }
}

fn sample_fields() -> Vec<IntegrationField> {
    vec![
        build_field("first", FieldType::Text, Some(FieldSemantic::FirstName)),
        build_field("mail", FieldType::Text, Some(FieldSemantic::Email)),
        build_field("zip", FieldType::Number, Some(FieldSemantic::Zip)),
        build_field("score", FieldType::Number, None),
        build_field("since", FieldType::Date, None),
    ]
}

/// The answer to a batch of these records.
fn check_records(records: &[Value]) -> Value {
    let body = json!({ "records": records }).to_string();
    let fields = sample_fields();
    let batch = split_batch(body.as_bytes()).unwrap();
    serde_json::to_value(check_batch(&batch, &FieldSchema::new(&fields)).answer()).unwrap()
}

/// The code of the only record's rejection, and its field.
fn find_only_rejection(record: Value) -> (String, Value) {
    let answer = check_records(&[record]);
    assert_eq!(answer["rejected"], 1, "{answer}");
    let rejection = &answer["rejections"][0];
    (
        rejection["code"].as_str().unwrap().to_owned(),
        rejection["field"].clone(),
    )
}

fn find_rejection_code(record: Value) -> String {
    find_only_rejection(record).0
}

#[test]
fn missing_external_id() {
    for record in [
        json!({}),
        json!({"external_id": null}),
        json!({"external_id": ""}),
        json!(7),
        json!([]),
        json!(null),
    ] {
        assert_eq!(find_rejection_code(record), "missing_external_id");
    }
}

#[test]
fn invalid_external_id() {
    for id in [
        json!(7),
        json!(true),
        json!([]),
        json!({}),
        json!("a\u{0}"),
        json!("x".repeat(129)),
    ] {
        assert_eq!(
            find_rejection_code(json!({ "external_id": id })),
            "invalid_external_id"
        );
    }
    for id in [
        "x".repeat(128),
        "é".repeat(128),
        "🙂".repeat(128),
        " ".to_owned(),
    ] {
        assert_eq!(
            check_records(&[json!({ "external_id": id })])["accepted"],
            1,
            "{id}"
        );
    }
}

#[test]
fn unknown_field() {
    let record = json!({"external_id": "a", "fields": {"fax": 1}});
    assert_eq!(
        find_only_rejection(record),
        ("unknown_field".to_owned(), json!("fax"))
    );
    let long = "k\u{0}".repeat(40_000);
    let (code, field) =
        find_only_rejection(json!({"external_id": "a", "fields": {(&long[..60_000]): 1}}));
    // U+0000 takes six bytes in JSON, so this one is refused for its size first.
    assert_eq!((code.as_str(), field), ("record_too_large", Value::Null));
    let (_, field) =
        find_only_rejection(json!({"external_id": "a", "fields": {(&long[..2_000]): 1}}));
    let field = field.as_str().unwrap();
    assert_eq!(
        (field.chars().count(), field.contains('\0')),
        (200, false),
        "what is shown can be stored"
    );
}

#[test]
fn invalid_type_rejects_for_a_semantic_field_and_drops_the_value_of_another() {
    let record = json!({"external_id": "a", "fields": {"zip": "x"}});
    assert_eq!(
        find_only_rejection(record),
        ("invalid_type".to_owned(), json!("zip"))
    );
    let answer = check_records(&[
        json!({"external_id": "a", "fields": {"score": "x", "since": [], "first": "Ann"}}),
    ]);
    assert_eq!(
        (&answer["accepted"], &answer["rejected"]),
        (&json!(1), &json!(0))
    );
    let fields: Vec<_> = answer["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| &group["field"])
        .collect();
    assert_eq!(fields, ["score", "since"]);
}

#[test]
fn invalid_email() {
    let record = json!({"external_id": "a", "fields": {"mail": "ann@example"}});
    assert_eq!(
        find_only_rejection(record),
        ("invalid_email".to_owned(), json!("mail"))
    );
    assert_eq!(
        check_records(&[json!({"external_id": "a", "fields": {"mail": " "}})])["accepted"],
        1
    );
}

#[test]
fn a_large_batch_fares_as_its_records_do() {
    let record = |index: usize| match index % 5 {
        0 => json!({"external_id": format!("id {}", index % 300), "fields": {"first": "Ann"}}),
        1 => json!({"external_id": index.to_string(), "op": "?"}),
        2 => json!({"external_id": index.to_string(), "fields": {"score": "many"}}),
        3 => json!({"external_id": index.to_string(), "op": "delete"}),
        _ => json!(index),
    };
    let answer = check_records(&(0..600).map(record).collect::<Vec<_>>());
    let rejected = answer["rejections"].as_array().unwrap();
    let expected = (0..600)
        .filter(|index| index % 5 == 1 || index % 5 == 4 || (index % 5 == 0 && *index >= 300));
    assert!(
        rejected
            .iter()
            .map(|item| item["index"].as_u64().unwrap())
            .eq(expected)
    );
    assert_eq!(
        rejected
            .iter()
            .filter(|item| item["code"] == "duplicate_in_batch")
            .count(),
        60
    );
    assert_eq!(
        (&answer["accepted"], &answer["deleted"]),
        (&json!(180), &json!(120))
    );
    assert_eq!(answer["warnings"][0]["count"], 120);
    assert_eq!(
        answer["warnings"][0]["externalIds"],
        json!(["2", "7", "12", "17", "22"])
    );
}

#[test]
fn duplicate_in_batch_counts_the_first_only() {
    let answer = check_records(&[
        json!({"external_id": "a"}),
        json!({"external_id": "a", "op": "delete"}),
        json!({"external_id": "b", "op": "?"}),
        json!({"external_id": "b"}),
    ]);
    let codes: Vec<_> = answer["rejections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["code"])
        .collect();
    assert_eq!(
        codes,
        ["duplicate_in_batch", "invalid_record", "duplicate_in_batch"]
    );
    assert_eq!(
        (&answer["accepted"], &answer["deleted"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn record_too_large_is_measured_on_the_record_as_sent() {
    let record = |bytes: usize| {
        let empty = r#"{"external_id":"a","fields":{"first":""}}"#.len();
        json!({"external_id": "a", "fields": {"first": "x".repeat(bytes - empty)}})
    };
    assert_eq!(check_records(&[record(65_536)])["accepted"], 1);
    assert_eq!(find_rejection_code(record(65_537)), "record_too_large");
    let padded = format!(
        r#"{{"records":[{{"external_id":"a"{}}}]}}"#,
        " ".repeat(65_536)
    );
    let (batch, fields) = (split_batch(padded.as_bytes()).unwrap(), sample_fields());
    let checked = check_batch(&batch, &FieldSchema::new(&fields));
    assert_eq!(checked.rejections[0].code, IssueCode::RecordTooLarge);
    assert_eq!(
        checked.rejected_ids,
        ["a"],
        "its contact counts as received"
    );
}

#[test]
fn invalid_record() {
    for record in [
        json!({"external_id": "a", "op": "insert"}),
        json!({"external_id": "a", "op": 7}),
        json!({"external_id": "a", "fields": []}),
        json!({"external_id": "a", "fields": "x"}),
    ] {
        assert_eq!(find_rejection_code(record), "invalid_record");
    }
    for record in [
        json!({"external_id": "a", "op": null, "fields": null}),
        json!({"external_id": "a", "op": "upsert", "more": [[1]]}),
    ] {
        assert_eq!(check_records(&[record])["accepted"], 1);
    }
}

#[test]
fn a_rejection_and_a_warning_group_have_the_documented_shape() {
    let mut records = vec![json!({"external_id": "r", "fields": {"fax": 1}}), json!(7)];
    records
        .extend((0..6).map(|n| json!({"external_id": format!("c{n}"), "fields": {"score": "x"}})));
    assert_eq!(
        check_records(&records),
        json!({
            "accepted": 6, "deleted": 0, "rejected": 2,
            "rejections": [
                {"index": 0, "externalId": "r", "code": "unknown_field", "field": "fax",
                 "message": "The field fax was not declared."},
                {"index": 1, "externalId": null, "code": "missing_external_id",
                 "message": "A record must be an object with an external_id."},
            ],
            "warnings": [
                {"index": 2, "externalId": "c0", "code": "invalid_type", "field": "score",
                 "message": "score must be a number like 1,234.50 or $12.", "count": 6,
                 "externalIds": ["c0", "c1", "c2", "c3", "c4"]},
            ],
        })
    );
}

/// JSON of every shape, with the words of the contract in it now and then.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        "external_id",
        "op",
        "fields",
        "upsert",
        "delete",
        "first",
        "mail",
        "score",
        "\\PC{0,6}"
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        "[\\x00-\\x20a@.]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn any_record() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_json(),
        ("[ab\\PC]{0,2}", any_json(), any_json())
            .prop_map(|(id, fields, op)| json!({"external_id": id, "fields": fields, "op": op})),
        ("[a-f]", any_json())
            .prop_map(|(id, value)| json!({"external_id": id, "fields": {"score": value}})),
    ]
}

proptest! {
    #[test]
    fn each_record_is_accepted_deleted_or_rejected_and_never_stops_the_rest(
        records in prop::collection::vec(any_record(), 0..30),
    ) {
        let body = json!({ "records": records }).to_string();
        let fields = sample_fields();
        let batch = split_batch(body.as_bytes()).unwrap();
        let checked = check_batch(&batch, &FieldSchema::new(&fields));
        let answer = checked.answer();
        prop_assert_eq!(answer.accepted + answer.deleted + answer.rejected, records.len());
        let dry = checked.dry_run_answer();
        prop_assert_eq!(dry.accepted + dry.rejected, records.len());
        let warned: usize = answer.warnings.iter().map(|group| group.count).sum();
        prop_assert_eq!(warned, checked.warnings.len());

        let mut ids: Vec<_> = checked.upserts.iter().map(|upsert| &upsert.external_id).collect();
        ids.extend(&checked.deletes);
        ids.extend(&checked.rejected_ids);
        prop_assert!(ids.iter().all(|id| !id.is_empty() && id.chars().count() <= 128));
        let distinct: HashSet<_> = ids.iter().collect();
        prop_assert_eq!(distinct.len(), ids.len(), "a contact counts once in a batch");

        // A record alone fares as in the batch, unless it is a duplicate there.
        for (index, record) in records.iter().enumerate() {
            let alone = json!({ "records": [record] }).to_string();
            let alone = split_batch(alone.as_bytes()).unwrap();
            let alone = check_batch(&alone, &FieldSchema::new(&fields));
            let here = checked.rejections.iter().find(|rejection| rejection.index == index);
            if here.is_none_or(|rejection| rejection.code != IssueCode::DuplicateInBatch) {
                prop_assert_eq!(alone.rejections.first().map(|found| found.code), here.map(|found| found.code));
            }
        }
    }
}
