//! The contract counts its own coverage: every row of the two servers names the test that proves it.

/// The tests' own text: each module with its source.
const SOURCES: &[(&str, &str)] = &[
    ("clients", include_str!("../e2e/mcp/clients.rs")),
    (
        "conformance",
        include_str!("../e2e/mcp/clients/conformance.rs"),
    ),
    ("formulas", include_str!("../e2e/mcp/formulas.rs")),
    ("integrations", include_str!("../e2e/mcp/integrations.rs")),
    ("refusals", include_str!("../e2e/mcp/refusals.rs")),
    ("schemas", include_str!("../e2e/mcp/schemas.rs")),
    ("tool_schema", include_str!("../src/tool_schema.rs")),
    ("wire", include_str!("../e2e/mcp/wire.rs")),
];

/// What the contract says of the servers: paths, tools, codes.
const CONTRACT: &[(&str, &str)] = &[
    (
        "405 use_post",
        "wire::every_method_but_post_is_405_use_post_before_the_key",
    ),
    (
        "tools/list",
        "schemas::tools_are_listed_in_the_same_order_with_schemas_of_objects_and_without_null",
    ),
    (
        "tools/list of formulas",
        "schemas::the_formula_tools_are_listed_the_same_way",
    ),
    (
        "-32700, -32600, -32601",
        "wire::json_rpc_errors_have_their_codes_and_http_200",
    ),
    (
        "-32600 too large",
        "wire::a_request_over_4456448_bytes_is_32600_and_one_of_that_size_is_not",
    ),
    (
        "-32603",
        "refusals::what_fails_on_our_side_is_32603_with_the_requests_id",
    ),
    (
        "tool failures",
        "integrations::failures_carry_the_push_apis_codes_and_details",
    ),
    (
        "field_locked, removal_guard",
        "integrations::a_locked_column_and_the_removal_guard_fail_with_their_details",
    ),
    (
        "shared rate limit",
        "refusals::the_integrations_server_counts_toward_the_push_apis_limit_of_an_address",
    ),
    (
        "rate limit of formulas",
        "refusals::the_formula_server_counts_keys_and_addresses_in_windows_of_its_own",
    ),
    (
        "401 invalid_key",
        "refusals::a_key_that_does_not_open_the_server_is_401_with_a_challenge",
    ),
    (
        "revocation",
        "refusals::a_revoked_key_opens_nothing_at_once",
    ),
    (
        "403 integration_unavailable",
        "refusals::a_paused_or_disconnected_integration_is_403",
    ),
    (
        "one implementation",
        "integrations::a_whole_sync_through_the_tools_does_what_the_push_api_does",
    ),
    (
        "idempotencyKey",
        "integrations::a_call_with_a_key_is_done_once_and_the_key_is_the_push_apis",
    ),
    (
        "list_columns",
        "formulas::list_columns_shows_every_column_with_its_type_page_by_page",
    ),
    (
        "list_functions",
        "formulas::list_functions_shows_each_with_an_example_that_gives_its_result",
    ),
    (
        "check_formula",
        "formulas::check_formula_gives_the_type_or_problems_with_their_places",
    ),
    (
        "preview_formula",
        "formulas::preview_formula_computes_given_rows_and_people_of_the_address_book",
    ),
    (
        "save_formula",
        "formulas::save_formula_creates_changes_and_leaves_alone_and_every_change_is_written_down",
    ),
    (
        "explain_formula",
        "formulas::explain_formula_shows_the_campaigns_designs_and_links_that_use_the_column",
    ),
    (
        "too_many_formulas",
        "formulas::a_team_has_at_most_100_formula_columns",
    ),
    (
        "a team of its own",
        "formulas::a_formulas_only_key_works_on_its_own_team_and_sees_no_other",
    ),
];

/// What the official clients were measured to need, by row.
const WIRE: &[(&str, &str)] = &[
    (
        "1, 2 initialize",
        "wire::initialize_echoes_a_known_version_and_offers_the_latest_for_another",
    ),
    (
        "3 notifications",
        "wire::a_message_without_an_id_is_202_with_an_empty_body_and_does_nothing",
    ),
    (
        "4, 5 GET and DELETE",
        "wire::every_method_but_post_is_405_use_post_before_the_key",
    ),
    (
        "6, 13 no sessions, ping",
        "wire::there_are_no_sessions_and_one_that_is_named_is_ignored",
    ),
    (
        "7, 8 JSON",
        "wire::every_answer_is_json_and_an_error_has_a_code_and_a_message_and_no_more",
    ),
    (
        "9, 10 no null, schemas",
        "schemas::tools_are_listed_in_the_same_order_with_schemas_of_objects_and_without_null",
    ),
    (
        "10 params may be absent",
        "wire::ids_are_echoed_and_params_may_be_absent",
    ),
    (
        "11, 12 results",
        "tool_schema::a_result_that_breaks_its_schema_is_noticed",
    ),
    (
        "14 errors on 200",
        "wire::json_rpc_errors_have_their_codes_and_http_200",
    ),
    (
        "15 probe",
        "wire::an_unsupported_protocol_version_is_400_and_none_is_an_old_one",
    ),
    (
        "16 challenge",
        "refusals::a_key_that_does_not_open_the_server_is_401_with_a_challenge",
    ),
    (
        "17 in time",
        "integrations::a_call_that_is_not_answered_in_time_fails_with_the_key_that_its_retry_needs",
    ),
    (
        "18 path, accept",
        "wire::a_client_that_insists_on_nothing_is_served_without_accept_and_content_type",
    ),
    (
        "origin",
        "refusals::a_foreign_origin_is_403_before_the_key_and_a_local_or_allowed_one_is_served",
    ),
    ("clients", "clients::speaks_to_the_integrations_server"),
    (
        "clients on formulas",
        "clients::speaks_to_the_formula_server",
    ),
    ("clients refused", "clients::is_told_when_it_is_refused"),
    (
        "conformance",
        "conformance::the_integrations_server_passes_the_scenarios_that_apply",
    ),
    (
        "conformance of formulas",
        "conformance::the_formula_server_passes_the_scenarios_that_apply",
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
fn every_row_names_a_test_that_exists() {
    let missing: Vec<_> = [CONTRACT, WIRE]
        .concat()
        .into_iter()
        .filter(|(_, test)| !exists(test))
        .collect();
    assert_eq!(missing, []);
}
