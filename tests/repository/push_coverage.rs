//! The contract counts its own coverage: every error, rejection code and rule of the push API names the test that
//! proves it, and a name without a test fails here.

/// The tests' own text: each module with its source.
const SOURCES: &[(&str, &str)] = &[
    ("access", include_str!("../e2e/push/access.rs")),
    ("fields", include_str!("../e2e/push/fields.rs")),
    ("idempotency", include_str!("../e2e/push/idempotency.rs")),
    ("model", include_str!("../e2e/push/model.rs")),
    ("reading", include_str!("../e2e/push/reading.rs")),
    ("records", include_str!("../e2e/push/records.rs")),
    ("removal", include_str!("../e2e/push/removal.rs")),
    ("syncs", include_str!("../e2e/push/syncs.rs")),
    (
        "check",
        include_str!("../../shared/wire/contract/src/push/check_tests.rs"),
    ),
];

/// Rows of the table "Errors, Push API".
const ERRORS: &[(&str, &str)] = &[
    (
        "400 invalid_json",
        "records::bodies_that_are_no_batch_are_refused",
    ),
    (
        "400 invalid_request",
        "fields::a_declaration_that_is_malformed_is_refused_whole",
    ),
    (
        "400 missing_idempotency_key",
        "idempotency::a_request_without_a_key_is_400_missing_idempotency_key",
    ),
    (
        "400 too_many_fields",
        "fields::too_many_fields_counts_those_already_declared",
    ),
    (
        "400 invalid_sync_id",
        "reading::wrong_parameters_of_the_list_each_have_their_code",
    ),
    (
        "400 invalid_type",
        "reading::wrong_parameters_of_the_list_each_have_their_code",
    ),
    (
        "400 invalid_cursor",
        "reading::wrong_parameters_of_the_list_each_have_their_code",
    ),
    (
        "400 invalid_limit",
        "reading::wrong_parameters_of_the_list_each_have_their_code",
    ),
    (
        "401 invalid_key",
        "access::a_key_that_does_not_open_it_is_401_invalid_key_with_a_challenge",
    ),
    (
        "403 integration_unavailable",
        "access::a_paused_or_disconnected_integration_is_403_integration_unavailable_until_it_is_resumed",
    ),
    (
        "404 sync_not_found",
        "syncs::complete_takes_only_the_id_of_the_open_sync",
    ),
    (
        "409 no_open_sync",
        "syncs::push_and_complete_without_an_open_sync_are_409_no_open_sync",
    ),
    (
        "409 sync_in_progress",
        "syncs::begin_answers_the_sync_and_a_second_one_409_sync_in_progress",
    ),
    (
        "409 field_locked",
        "fields::a_type_that_the_owner_set_is_409_field_locked",
    ),
    (
        "409 idempotency_key_reused",
        "idempotency::the_same_key_for_another_request_is_409_idempotency_key_reused",
    ),
    (
        "409 in_progress",
        "idempotency::a_key_whose_first_attempt_is_running_is_409_in_progress",
    ),
    (
        "413 too_many_records",
        "records::bodies_that_are_no_batch_are_refused",
    ),
    (
        "413 payload_too_large",
        "records::bodies_that_are_no_batch_are_refused",
    ),
    (
        "429 rate_limited",
        "access::over_120_requests_a_minute_of_one_source_is_429_with_retry_after",
    ),
];

/// Rows of the table "Rejection codes", and the code that decisions add.
const REJECTIONS: &[(&str, &str)] = &[
    ("missing_external_id", "check::missing_external_id"),
    ("invalid_external_id", "check::invalid_external_id"),
    ("unknown_field", "check::unknown_field"),
    (
        "invalid_type",
        "check::invalid_type_rejects_for_a_semantic_field_and_drops_the_value_of_another",
    ),
    ("invalid_email", "check::invalid_email"),
    (
        "duplicate_in_batch",
        "check::duplicate_in_batch_counts_the_first_only",
    ),
    (
        "record_too_large",
        "check::record_too_large_is_measured_on_the_record_as_sent",
    ),
    ("invalid_record", "check::invalid_record"),
];

/// Endpoints, states and rules.
const RULES: &[(&str, &str)] = &[
    (
        "GET root",
        "reading::the_integration_is_shown_with_its_open_sync_limits_and_next_step",
    ),
    (
        "GET and POST schema",
        "fields::declare_adds_changes_and_lists_what_is_no_longer_sent",
    ),
    (
        "GET sync",
        "reading::get_sync_shows_the_latest_with_its_counters",
    ),
    (
        "GET rejections",
        "reading::rejections_are_listed_by_pages_until_next_after_is_null",
    ),
    (
        "GET rejections of warnings",
        "reading::every_dropped_value_is_listed_with_type_warning",
    ),
    (
        "POST records",
        "records::a_push_answers_counts_rejections_and_warnings_and_a_dry_run_the_same_without_writing",
    ),
    (
        "full sync",
        "syncs::a_full_sync_marks_every_contact_it_did_not_receive_as_removed",
    ),
    (
        "delta sync",
        "syncs::a_delta_sync_removes_only_what_is_deleted_explicitly",
    ),
    (
        "expiry",
        "syncs::an_unfinished_sync_expires_after_24_hours_and_removes_nothing",
    ),
    (
        "retry",
        "idempotency::a_retry_gets_the_same_answer_byte_for_byte_marked_as_replayed",
    ),
    (
        "keys of an integration",
        "access::an_integration_holds_at_most_2_active_keys",
    ),
    ("revocation", "access::a_revoked_key_opens_nothing_at_once"),
    (
        "a declaration's answer",
        "fields::a_declaration_whose_worker_dies_before_its_reply_gets_the_answer_that_it_would_have_got",
    ),
    (
        "latest",
        "reading::the_latest_sync_is_the_one_begun_last_though_another_workers_clock_was_ahead",
    ),
    (
        "killed workers",
        "model::contacts_are_those_of_the_model_whenever_the_worker_is_killed",
    ),
];

fn exists(name: &str) -> bool {
    let Some((module, test)) = name.split_once("::") else {
        return false;
    };
    SOURCES
        .iter()
        .any(|(known, source)| *known == module && source.contains(&format!("fn {test}()")))
}

#[test]
fn every_row_of_the_contract_names_a_test_that_exists() {
    let missing: Vec<_> = [ERRORS, REJECTIONS, RULES]
        .concat()
        .into_iter()
        .filter(|(_, test)| !exists(test))
        .collect();
    assert_eq!(missing, []);
}
