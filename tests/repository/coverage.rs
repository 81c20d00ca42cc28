//! The contract counts its own coverage: every error, reason and limit of the Dynamic Audience API names the test that
//! proves it, and a name without a test fails here.

use contract::send::NotMailedReason;

/// The tests' own text: each module with its source.
const SOURCES: &[(&str, &str)] = &[
    ("addresses", include_str!("../e2e/addresses.rs")),
    ("columns", include_str!("../e2e/columns.rs")),
    ("crash", include_str!("../e2e/crash.rs")),
    ("design_pictures", include_str!("../e2e/design_pictures.rs")),
    (
        "design_return_address",
        include_str!("../e2e/design_return_address.rs"),
    ),
    ("design_texts", include_str!("../e2e/design_texts.rs")),
    ("due", include_str!("../e2e/due.rs")),
    ("errors", include_str!("../e2e/errors.rs")),
    ("limits", include_str!("../e2e/limits.rs")),
    ("neighborhood", include_str!("../e2e/neighborhood.rs")),
    ("outcomes", include_str!("../e2e/outcomes.rs")),
    ("replay", include_str!("../e2e/replay.rs")),
    ("response", include_str!("../e2e/response.rs")),
    ("wire", include_str!("../e2e/wire.rs")),
];

/// Rows of the table "Errors, Dynamic Audience API", and of what its text adds.
const ERRORS: &[(&str, &str)] = &[
    (
        "401 invalid_api_key",
        "errors::invalid_api_key_when_wrong_revoked_or_of_another_kind",
    ),
    (
        "404 campaign_not_found",
        "errors::campaign_not_found_when_unknown_missing_or_another_teams",
    ),
    (
        "409 campaign_not_active",
        "errors::campaign_not_active_when_paused_or_another_audience_or_without_a_design",
    ),
    (
        "409 design_cannot_render",
        "errors::design_cannot_render_when_a_draft_or_a_setting_cannot_print",
    ),
    (
        "413 payload_too_large",
        "errors::payload_too_large_for_too_many_recipients_and_for_too_many_bytes",
    ),
    (
        "422 invalid_payload",
        "errors::invalid_payload_when_unreadable_or_recipients_empty",
    ),
    (
        "429 rate_limited",
        "limits::rate_limited_past_the_requests_per_minute_of_a_key_whatever_its_sources",
    ),
    (
        "500 internal_error",
        "errors::internal_error_at_once_when_no_worker_or_no_broker_is_there",
    ),
    (
        "503 validation_unavailable",
        "errors::validation_unavailable_mails_and_charges_nothing",
    ),
    (
        "504",
        "errors::timeout_past_the_deadline_and_the_request_still_finishes",
    ),
    (
        "a dropped connection",
        "wire::a_client_that_hangs_up_does_not_stop_the_request",
    ),
    (
        "body {code, message}",
        "errors::every_error_has_code_and_message_and_nothing_else",
    ),
];

/// Rows of the table "Reasons a recipient was not mailed".
const REASONS: &[(&str, &str)] = &[
    (
        "invalid_address",
        "outcomes::invalid_address_also_when_a_required_part_is_missing_and_the_rest_still_runs",
    ),
    ("do_not_mail", "outcomes::do_not_mail"),
    ("filtered_location", "outcomes::filtered_location"),
    (
        "filtered_conditions",
        "outcomes::filtered_conditions_over_custom_and_built_in_columns",
    ),
    (
        "budget_exceeded",
        "outcomes::budget_exceeded_from_the_first_that_does_not_fit",
    ),
    (
        "duplicate_recent",
        "outcomes::duplicate_recent_across_requests_and_within_one",
    ),
    (
        "payment_failed",
        "outcomes::payment_failed_when_the_balance_does_not_cover_the_whole_request",
    ),
    ("removed_by_sender", "outcomes::removed_by_sender"),
    ("no_homes_found", "neighborhood::no_homes_found"),
    (
        "text_overflow",
        "design_texts::text_overflow_when_a_text_does_not_fit_its_box",
    ),
    (
        "variable_image_missing",
        "design_pictures::variable_image_missing_when_the_request_wants_every_picture",
    ),
    (
        "unsupported_characters",
        "design_texts::unsupported_characters_are_named_with_their_box_and_come_before_text_overflow",
    ),
    (
        "request_capacity_reached",
        "neighborhood::request_capacity_reached_mails_nothing_for_that_center_and_a_smaller_one_still_fits",
    ),
];

/// Rows of the tables "Warning codes" and "return_address_reason".
const FALLBACKS: &[(&str, &str)] = &[
    (
        "variable_image_fallback",
        "design_pictures::variable_image_fallback_prints_the_designs_default",
    ),
    (
        "variable_image_blank",
        "design_pictures::variable_image_blank_when_there_is_no_usable_picture_and_no_default",
    ),
    (
        "qr_fallback_link",
        "design_texts::qr_fallback_link_when_a_needed_field_is_empty",
    ),
    (
        "text_overlap",
        "design_texts::text_overlap_when_a_text_reaches_another_element",
    ),
    (
        "text_unmeasurable",
        "design_texts::text_unmeasurable_when_nobody_can_say_where_its_words_end",
    ),
    (
        "text_curve_too_long",
        "design_texts::text_curve_too_long_prints_smaller",
    ),
    (
        "missing_token_value",
        "design_return_address::missing_token_value_and_unverified_address_print_the_fallback",
    ),
    (
        "unverified_address",
        "design_return_address::missing_token_value_and_unverified_address_print_the_fallback",
    ),
    (
        "verification_limit_reached",
        "design_return_address::verification_limit_reached_for_the_teams_day",
    ),
];

/// Rows of the tables "Limits", "Send response" and "States and transitions" of the Dynamic Audience API.
const RULES: &[(&str, &str)] = &[
    (
        "Centers per request",
        "neighborhood::more_than_250_centers_are_413_right_after_the_campaign_is_found",
    ),
    (
        "Homes per request",
        "neighborhood::request_capacity_reached_mails_nothing_for_that_center_and_a_smaller_one_still_fits",
    ),
    (
        "homesFound, homesMailed",
        "neighborhood::homes_around_a_center_are_mailed_and_the_center_is_one_of_them",
    ),
    (
        "Recipients per request",
        "errors::payload_too_large_for_too_many_recipients_and_for_too_many_bytes",
    ),
    (
        "Request body",
        "wire::a_chunked_body_over_the_limit_is_payload_too_large",
    ),
    (
        "Response",
        "response::results_truncated_past_4_mb_and_replayed_so",
    ),
    (
        "Requests per key",
        "limits::rate_limited_past_the_requests_per_minute_of_a_key_whatever_its_sources",
    ),
    (
        "Requests per source",
        "limits::rate_limited_past_the_requests_per_minute_of_a_source_before_its_key_is_looked_at",
    ),
    (
        "Replay window",
        "replay::within_15_minutes_the_stored_response_returns_byte_for_byte",
    ),
    (
        "Replay unless it mailed nobody",
        "replay::a_response_that_mailed_nobody_is_not_replayed",
    ),
    (
        "Duplicate window",
        "replay::an_address_is_mailed_once_in_30_days_per_campaign",
    ),
    (
        "Re-send protection",
        "replay::resend_protection_holds_when_on_and_longer",
    ),
    (
        "New custom columns per request",
        "columns::new_custom_columns_per_request_and_per_team_are_limited_and_the_request_still_runs",
    ),
    (
        "API-created columns per team",
        "columns::new_custom_columns_per_request_and_per_team_are_limited_and_the_request_still_runs",
    ),
    (
        "Custom value length",
        "columns::a_custom_value_is_stored_up_to_600_characters",
    ),
    (
        "field_types",
        "columns::field_types_give_new_columns_their_type_and_text_is_the_default",
    ),
    (
        "unparseableTypedValues",
        "columns::unparseable_typed_values_are_counted_and_stored_as_sent",
    ),
    (
        "computedFieldsIgnored",
        "columns::computed_fields_ignored_counts_values_for_formula_and_ai_columns",
    ),
    (
        "birthday",
        "columns::birthdays_are_read_in_their_forms_and_kept_as_sent",
    ),
    (
        "Result",
        "response::a_result_has_the_documented_fields_in_the_order_sent",
    ),
    (
        "Status 200",
        "response::status_200_also_when_every_recipient_was_not_mailed",
    ),
    (
        "Return address verification limit per request",
        "design_return_address::verification_limit_reached_in_a_request_and_those_that_are_known_do_not_count",
    ),
    (
        "Key places",
        "errors::the_key_comes_in_authorization_or_x_api_key_or_the_body_and_never_in_the_query",
    ),
    (
        "filtered_conditions re-check",
        "due::filtered_conditions_is_mailed_and_charged_at_the_daily_recheck_when_it_matches",
    ),
    (
        "multi-step campaign",
        "due::a_later_step_mails_and_charges_its_days_after_step_1",
    ),
];

fn exists(name: &str) -> bool {
    let Some((module, test)) = name.split_once("::") else {
        return false;
    };
    SOURCES
        .iter()
        .any(|(known, source)| *known == module && source.contains(&format!("async fn {test}()")))
}

#[test]
fn every_row_of_the_contract_names_a_test_that_exists() {
    let missing: Vec<_> = [ERRORS, REASONS, FALLBACKS, RULES]
        .concat()
        .into_iter()
        .filter(|(_, test)| !exists(test))
        .collect();
    assert_eq!(missing, []);
}

#[test]
fn every_reason_of_the_contract_is_proven() {
    let unproven: Vec<_> = NotMailedReason::ALL
        .into_iter()
        .filter(|reason| !REASONS.iter().any(|(code, _)| *code == reason.as_str()))
        .collect();
    assert_eq!(unproven, []);
}
