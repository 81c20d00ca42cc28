use proptest::prelude::*;
use serde_json::json;

use super::*;

fn expect_request_error(body: &str) -> String {
    let error = parse_request(body.as_bytes()).expect_err(body);
    assert_eq!(
        check_request(body.as_bytes()).expect_err(body),
        error,
        "gateway and mailer agree"
    );
    error.to_string()
}

#[test]
fn a_request_is_read_with_names_and_values_trimmed_and_numbers_as_their_text() {
    let body = r#"{"campaign_id":"PA-ABC123","recipients":[{"reference":" r 1 ","zip":78701,"score":1.50,
        "vip":true,"city":null," Pet ":" Rex\u0021 "}],"field_types":{"score":"number"},"extra":[[1]]}"#;
    let request = parse_request(body.as_bytes()).unwrap();
    assert_eq!(request.campaign_id.unwrap().as_str(), "PA-ABC123");
    assert_eq!(request.field_types, [("score".into(), ColumnType::Number)]);
    let recipient = &request.recipients[0];
    assert_eq!(recipient.reference.as_deref(), Some(" r 1 "));
    let fields: Vec<_> = recipient
        .fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    assert_eq!(
        fields,
        [
            ("zip", "78701"),
            ("score", "1.50"),
            ("vip", "true"),
            ("Pet", "Rex!")
        ]
    );
    assert_eq!(recipient.value("city"), "");
}

#[test]
fn campaign_id_missing_or_not_a_text_is_no_shape_error() {
    for body in [
        r#"{"recipients":[{}]}"#,
        r#"{"campaign_id":7,"recipients":[{}]}"#,
        r#"{"campaign_id":{"a":[]},"recipients":[{}]}"#,
        r#"{"campaign_id":"pa-abc123","recipients":[{}]}"#,
    ] {
        assert_eq!(
            parse_request(body.as_bytes()).unwrap().campaign_id,
            None,
            "{body}"
        );
    }
}

#[test]
fn invalid_payload_names_the_position_and_the_key() {
    let cases = [
        ("", "must be a JSON object"),
        ("[]", "must be a JSON object"),
        (
            r#"{"recipients":[{}]"#,
            "cannot be read: it is not valid JSON at line 1, column 18.",
        ),
        (r#"{"recipients":[{}]} x"#, "cannot be read"),
        (
            r#"{"recipients":[{}],"recipients":[{}]}"#,
            "duplicate field `recipients`",
        ),
        (r#"{}"#, "recipients must be an array"),
        (r#"{"recipients":null}"#, "recipients must be an array"),
        (r#"{"recipients":{}}"#, "recipients must be an array"),
        (r#"{"recipients":[]}"#, "recipients is empty"),
        (
            r#"{"recipients":[{},7]}"#,
            "recipients[1] must be an object",
        ),
        (
            r#"{"recipients":[{"zip":[1]}]}"#,
            "recipients[0]: zip must be a text, a number or a boolean, not an array",
        ),
        (
            r#"{"recipients":[{"a":{}}]}"#,
            "recipients[0]: a must be a text, a number or a boolean, not an object",
        ),
        (
            r#"{"recipients":[{"a":1,"A ":2}]}"#,
            "recipients[0]: the field A is given twice",
        ),
        (
            r#"{"recipients":[{" ":1}]}"#,
            "recipients[0]: a field has an empty name",
        ),
        (
            r#"{"recipients":[{"a":"\u0000"}]}"#,
            "recipients[0]: a holds the character U+0000",
        ),
        (
            r#"{"recipients":[{"a\u0000b":"x"}]}"#,
            "recipients[0]: a field's name holds a control character",
        ),
        (
            r#"{"recipients":[{"a":"\ud800"}]}"#,
            "recipients[0]: a is not a valid text",
        ),
        (
            r#"{"recipients":[{}],"field_types":[]}"#,
            "field_types must map",
        ),
        (
            r#"{"recipients":[{}],"field_types":{"a":"money"}}"#,
            r#"field_types must map field names to text, number, date or yes_no: a has the type "money"."#,
        ),
        (
            r#"{"recipients":[{}],"field_types":{"a":{"b":1}}}"#,
            r#"yes_no: a has the type {"b":1}."#,
        ),
        (
            r#"{"recipients":[{}],"field_types":{"a":"text","A":"date"}}"#,
            "A is given twice",
        ),
        (
            r#"{"recipients":[{}],"require_variable_images":"yes"}"#,
            "require_variable_images must be",
        ),
        (
            r#"{"recipients":[{}],"expect_total":"79"}"#,
            "expect_total must be a whole number of US cents",
        ),
        (
            r#"{"recipients":[{}],"expect_total":1.5}"#,
            "expect_total must be",
        ),
        (
            r#"{"recipients":[{}],"expect_total":9223372036854775808}"#,
            "expect_total must be",
        ),
    ];
    for (body, expected) in cases {
        let message = expect_request_error(body);
        assert!(message.contains(expected), "{body} gave {message}");
    }
    assert!(
        parse_request(b"{\"recipients\":[{\"a\":\"\xff\"}]}")
            .unwrap_err()
            .to_string()
            .contains("UTF-8")
    );
    assert!(expect_request_error("\u{feff}{\"recipients\":[{}]}").contains("byte-order mark"));
}

#[test]
fn the_price_that_is_expected_is_no_part_of_what_makes_requests_equal() {
    let body = |rest: &str| format!(r#"{{"recipients":[{{"zip":"78701"}}]{rest}}}"#);
    let (plain, priced) = (body(""), body(r#","expect_total":79"#));
    let expected = |body: &str| parse_request(body.as_bytes()).unwrap().expect_total;
    assert_eq!((expected(&plain), expected(&priced)), (None, Some(79)));
    assert_eq!(expected(&body(r#","expect_total":null"#)), None);
    assert_eq!(
        hash_request(plain.as_bytes()).unwrap(),
        hash_request(priced.as_bytes()).unwrap()
    );
}

#[test]
fn no_message_has_the_text_of_a_parser() {
    for body in [
        r#"{"recipients":[{}],"field_types":{"a":"integer"}}"#,
        r#"{"recipients":[{}],"field_types":{"a":7}}"#,
        r#"{"recipients":[{}],"field_types":[]}"#,
        r#"{"recipients":[{}],"field_types":7}"#,
        r#"{"recipients":[{}],"recipients":[{}]}"#,
        r#"{"recipients":[{}"#,
        r#"{"recipients":[{"a" 1}]}"#,
        r#"{"recipients":[{}],"a":tru}"#,
    ] {
        let message = expect_request_error(body);
        for text in [
            "unknown variant",
            "invalid type",
            "expected",
            " at line 1 column",
            "EOF",
        ] {
            assert!(!message.contains(text), "{message}");
        }
    }
}

#[test]
fn a_field_with_a_name_that_is_too_long_is_left_out_and_counted() {
    let (long, short) = ("x".repeat(201), "é".repeat(200));
    let body = json!({"recipients": [{&long: [1], &short: 1}, {}], "field_types": {&long: "money", &short: "date"}});
    let request = body.to_string();
    check_request(request.as_bytes()).unwrap();
    let request = parse_request(request.as_bytes()).unwrap();
    assert_eq!(request.count_long_names(), 2);
    let names: Vec<_> = request.recipients[0]
        .fields
        .iter()
        .map(|(name, _)| &**name)
        .collect();
    assert_eq!(names, [&short]);
    assert_eq!(request.field_types, [(short.into(), ColumnType::Date)]);
}

#[test]
fn payload_too_large_counts_the_recipients_but_bad_shape_comes_first() {
    let body = |last: &str| format!(r#"{{"recipients":[{}{last}]}}"#, "{},".repeat(5000));
    assert_eq!(
        parse_request(body("{}").as_bytes()).unwrap_err(),
        SendRequestError::TooManyRecipients(5001)
    );
    assert!(expect_request_error(&body("7")).contains("recipients[5000]"));
}

#[test]
fn depth_and_breadth_are_bounded_by_the_body_alone() {
    let deep = format!(
        r#"{{"recipients":[{{}}],"x":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(parse_request(deep.as_bytes()).is_ok());
    let inside = format!(
        r#"{{"recipients":[{{"a":{}{}}}]}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(expect_request_error(&inside).contains("not an array"));
    let names: serde_json::Map<_, _> = (0..10_000)
        .map(|n| (format!("field {n}"), json!(n)))
        .collect();
    let wide = json!({"recipients": [names]}).to_string();
    assert_eq!(
        parse_request(wide.as_bytes()).unwrap().recipients[0]
            .fields
            .len(),
        10_000
    );
}

#[test]
fn the_key_is_found_in_a_body_whose_other_parts_are_malformed() {
    let key = find_api_key(br#"{"api_key":" pk_live_abcdefghijkl ","recipients":7}"#).unwrap();
    assert_eq!(key.hash(), PresentedKey::new("pk_live_abcdefghijkl").hash());
    for body in [
        &b"{"[..],
        br#"{"api_key":7}"#,
        br#"{}"#,
        br#"{"api_key":"a"} x"#,
    ] {
        assert!(find_api_key(body).is_none());
    }
}

#[test]
fn the_fingerprint_is_the_addresses_trimmed_and_folded_in_order_and_nothing_else() {
    let campaign = "PA-ABC123".parse().unwrap();
    let print = |recipients: serde_json::Value| {
        let body = json!({"recipients": recipients}).to_string();
        fingerprint_request(
            &campaign,
            &parse_request(body.as_bytes()).unwrap().recipients,
        )
    };
    let base = print(json!([{"address_1": "1 Main St", "zip": "1"}, {"address_1": "2 Main St"}]));
    let renamed = json!([{"address_1": " 1 MAIN st", "zip": 1, "first_name": "X"}, {"address_1": "2 Main St", "pet": "Y"}]);
    assert_eq!(base, print(renamed));
    assert_ne!(
        base,
        print(json!([{"address_1": "2 Main St"}, {"address_1": "1 Main St", "zip": "1"}]))
    );
    assert_ne!(
        base,
        print(json!([{"address_1": "1 Main St", "city": "1"}, {"address_1": "2 Main St"}]))
    );
    assert_ne!(
        base,
        fingerprint_request(&"PA-ABC124".parse().unwrap(), &[])
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(parse_request(&body).map(drop), check_request(&body));
        let _ = find_api_key(&body);
    }

    #[test]
    fn a_value_survives_whatever_characters_it_has(value in "[^\u{0}]{0,40}") {
        let body = json!({"recipients": [{"a": value}]}).to_string();
        let request = parse_request(body.as_bytes()).unwrap();
        prop_assert_eq!(request.recipients[0].value("a"), value.trim());
    }
}
