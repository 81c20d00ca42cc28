//! The rules of scans and webhooks count their own coverage: each names the test that proves it, and a name without a
//! test fails here.

/// The tests' own text: each module with its source.
const SOURCES: &[(&str, &str)] = &[
    ("crash", include_str!("../e2e/webhooks/crash.rs")),
    ("delivery", include_str!("../e2e/webhooks/delivery.rs")),
    ("email", include_str!("../e2e/webhooks/email.rs")),
    ("fairness", include_str!("../e2e/webhooks/fairness.rs")),
    ("owner", include_str!("../e2e/webhooks/owner.rs")),
    ("safety", include_str!("../e2e/webhooks/safety.rs")),
    ("state", include_str!("../e2e/webhooks/state.rs")),
    ("scans", include_str!("../e2e/scans.rs")),
    (
        "client",
        include_str!("../../shared/infra/outbound/tests/client.rs"),
    ),
    (
        "policy",
        include_str!("../../shared/infra/outbound/src/policy.rs"),
    ),
    (
        "target",
        include_str!("../../shared/infra/outbound/src/target.rs"),
    ),
    (
        "address",
        include_str!("../../shared/infra/outbound/src/address.rs"),
    ),
    (
        "link",
        include_str!("../../shared/domain/design/src/link.rs"),
    ),
    (
        "attempt",
        include_str!("../../shared/app/delivering/src/attempt.rs"),
    ),
    (
        "visitor",
        include_str!("../../shared/app/scanning/src/visitor.rs"),
    ),
];

/// Scans.
const SCANS: &[(&str, &str)] = &[
    (
        "every scan is recorded, also repeats; HEAD is none",
        "scans::repeat_scans_are_recorded_and_head_is_no_scan",
    ),
    (
        "an unknown code gets a small page",
        "scans::an_unknown_code_gets_a_small_404_page",
    ),
    (
        "the place comes from a MaxMind-format file",
        "scans::the_location_comes_from_a_maxmind_file",
    ),
    (
        "no recorded scan loses its event",
        "crash::a_gateway_killed_after_the_record_before_the_announcement",
    ),
    (
        "fast under a crowd",
        "scans::a_crowd_that_scans_one_card_is_recorded_to_the_last",
    ),
    (
        "links with fields filled in, never cached",
        "scans::a_scan_is_redirected_to_the_links_with_fields_filled_in_and_never_cached",
    ),
    (
        "the fallback",
        "scans::the_fallback_link_is_used_when_a_needed_field_is_empty",
    ),
    (
        "values are encoded",
        "scans::values_are_percent_encoded_in_the_path_and_in_the_query",
    ),
    (
        "whatever a value holds",
        "link::any_value_comes_back_from_the_query_as_it_was",
    ),
    (
        "previewers and prefetchers are marked",
        "scans::previewers_and_prefetchers_are_marked",
    ),
    (
        "which these are",
        "visitor::previewers_and_prefetchers_are_programs",
    ),
    (
        "the redirect needs only reads",
        "scans::the_redirect_works_though_nothing_can_be_written",
    ),
    (
        "and waits for no write",
        "scans::the_redirect_works_though_writes_hang",
    ),
];

/// The contract's Events, Delivery rules and Webhook endpoint.
const CONTRACT: &[(&str, &str)] = &[
    (
        "body and headers",
        "delivery::the_body_and_the_headers_are_those_of_the_contract",
    ),
    (
        "rule 1",
        "delivery::any_2xx_counts_as_delivered_and_anything_else_as_failed",
    ),
    (
        "rule 1: 10 seconds",
        "delivery::no_answer_within_the_time_limit_is_a_failed_delivery",
    ),
    (
        "rule 1: for the whole answer",
        "client::an_answer_whose_body_never_ends_is_none_within_the_time_limit",
    ),
    (
        "rule 2",
        "delivery::a_failed_delivery_retries_at_5_minutes_15_minutes_1_hour_and_6_hours_with_the_same_webhook_id",
    ),
    (
        "rule 2: jitter",
        "attempt::a_pause_is_at_the_most_a_tenth_longer",
    ),
    (
        "rule 3, and the warning at 10",
        "state::after_10_failed_attempts_in_a_row_a_warning_and_after_20_the_end_each_with_an_email",
    ),
    (
        "rule 3: in a row",
        "state::a_success_starts_the_count_again",
    ),
    (
        "rule 4",
        "owner::redeliver_sends_again_with_the_same_webhook_id_once_and_counts",
    ),
    (
        "rule 4: the last 25",
        "delivery::the_last_25_deliveries_keep_request_status_duration_error_and_the_first_2_kb_of_the_answer",
    ),
    (
        "rule 5",
        "owner::a_test_event_is_never_retried_and_never_counts",
    ),
    (
        "rule 6",
        "delivery::no_events_are_emitted_by_the_dynamic_audience_api",
    ),
    (
        "paused",
        "state::while_paused_nothing_is_queued_and_waiting_retries_are_cancelled",
    ),
    (
        "paused meanwhile",
        "state::a_delivery_made_while_the_endpoint_was_being_paused_is_cancelled",
    ),
    (
        "scope",
        "owner::scope_is_all_campaigns_later_ones_too_or_chosen_ones",
    ),
    (
        "redirects are not followed",
        "client::redirects_are_not_followed",
    ),
];

/// What decisions and our own promises add.
const BEYOND: &[(&str, &str)] = &[
    (
        "any number of replicas",
        "fairness::any_number_of_replicas_share_the_work_and_make_no_attempt_twice",
    ),
    (
        "an endpoint that hangs",
        "fairness::an_endpoint_that_hangs_delays_no_other_and_has_only_its_share",
    ),
    (
        "retries",
        "fairness::retries_never_hold_back_first_attempts",
    ),
    ("connections are kept", "client::connections_are_kept_alive"),
    (
        "answers are read to a bound",
        "client::an_answer_is_kept_and_read_to_a_bound",
    ),
    (
        "headers too",
        "client::endless_headers_and_what_is_no_http_are_no_answer",
    ),
    (
        "the address that is checked is connected to",
        "policy::of_a_names_addresses_only_the_public_ones_are_connected_to",
    ),
    (
        "in every notation",
        "policy::an_address_in_place_of_a_name_is_checked_in_every_notation",
    ),
    (
        "IDN, final dot",
        "target::what_is_asked_and_how_it_is_called",
    ),
    ("user information, zone ids", "target::what_is_no_target"),
    (
        "no tunnel: NAT64, 6to4, Teredo",
        "address::no_tunnel_to_ipv4_is_public",
    ),
    (
        "every special network",
        "address::only_global_unicast_addresses_are_public",
    ),
    (
        "on every attempt",
        "safety::only_public_addresses_are_saved_and_asked",
    ),
    (
        "proxies",
        "safety::proxies_from_the_environment_are_not_used",
    ),
    ("replay", "owner::all_failed_since_a_time_are_replayed"),
    (
        "signatures",
        "owner::signatures_are_opt_in_and_both_keys_sign_for_a_while_after_a_rotation",
    ),
    (
        "signatures as specified",
        "attempt::the_signature_is_that_of_the_specification",
    ),
    (
        "provisioning",
        "owner::endpoints_are_provisioned_repeatably",
    ),
    (
        "SMTP, STARTTLS",
        "email::an_email_goes_out_over_starttls_with_a_password",
    ),
    (
        "SMTP, TLS",
        "email::an_email_goes_out_over_implicit_tls_with_a_password",
    ),
    (
        "SMTP, busy",
        "email::an_email_that_the_server_refuses_for_now_is_sent_again_once",
    ),
    (
        "SMTP, passwords",
        "email::no_password_is_told_to_a_server_without_tls_or_with_a_strange_certificate",
    ),
    (
        "killed",
        "crash::chaos_loses_no_recorded_scan_and_copies_carry_the_same_webhook_id",
    ),
];

fn exists(name: &str) -> bool {
    let Some((module, test)) = name.split_once("::") else {
        return false;
    };
    SOURCES
        .iter()
        .any(|(known, source)| *known == module && source.contains(&format!("fn {test}(")))
}

#[test]
fn every_rule_names_a_test_that_exists() {
    let missing: Vec<_> = [SCANS, CONTRACT, BEYOND]
        .concat()
        .into_iter()
        .filter(|(_, test)| !exists(test))
        .collect();
    assert_eq!(missing, []);
}
