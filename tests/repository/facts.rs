//! The API contract's tables as facts. A `+` marks what the service adds to the contract, a `!` what is required or always
//! there.

/// What an operation takes and answers, by method and path: parameters, the type of its body, the types of a 200, and every
/// other answer with its codes.
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [&'static str],
    pub(super) body: &'static str,
    pub(super) answers: &'static [&'static str],
    pub(super) failures: &'static [&'static str],
}

/// Every operation of the document.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "POST /api/v1/recipients",
        parameters: &["query validate +", "header Idempotency-Key +"],
        body: "SendRequest",
        answers: &["SendResponse", "SendValidation +"],
        failures: &[
            "401 invalid_api_key",
            "404 campaign_not_found",
            "409 campaign_not_active",
            "409 design_cannot_render",
            "409 idempotency_key_reused +",
            "409 in_progress +",
            "413 payload_too_large",
            "422 invalid_payload",
            "422 invalid_idempotency_key +",
            "429 rate_limited",
            "500 internal_error",
            "503 validation_unavailable",
            "504 timeout +",
        ],
    },
    Operation {
        name: "GET /api/v1/requests/{id} +",
        parameters: &["path id!"],
        body: "",
        answers: &["RequestAnswer"],
        failures: &[
            "401 invalid_api_key",
            "422 invalid_payload",
            "429 rate_limited",
            "500 internal_error",
        ],
    },
    Operation {
        name: "GET /api/v1/scans +",
        parameters: &["query after", "query wait"],
        body: "",
        answers: &["ScansAnswer"],
        failures: &[
            "401 invalid_api_key",
            "422 invalid_payload",
            "429 rate_limited",
            "500 internal_error",
        ],
    },
    Operation {
        name: "GET /q/{code} +",
        parameters: &["path code!"],
        body: "",
        answers: &[],
        failures: &["302", "404", "503"],
    },
    Operation {
        name: "HEAD /q/{code} +",
        parameters: &["path code!"],
        body: "",
        answers: &[],
        failures: &["302", "404", "503"],
    },
    Operation {
        name: "GET /api/integrations/push/v1",
        parameters: &[],
        body: "",
        answers: &["IntegrationAnswer"],
        failures: READING,
    },
    Operation {
        name: "GET /api/integrations/push/v1/schema",
        parameters: &[],
        body: "",
        answers: &["SchemaAnswer"],
        failures: READING,
    },
    Operation {
        name: "POST /api/integrations/push/v1/schema",
        parameters: &[],
        body: "Declaration",
        answers: &["DeclareAnswer"],
        failures: &[
            "400 invalid_json",
            "400 invalid_request",
            "400 too_many_fields {limit, received}",
            "401 invalid_key",
            "403 integration_unavailable",
            "409 field_locked {fields}",
            "413 payload_too_large {limit}",
            "429 rate_limited",
            "500 internal_error +",
            "504 timeout +",
        ],
    },
    Operation {
        name: "GET /api/integrations/push/v1/sync",
        parameters: &[],
        body: "",
        answers: &["SyncAnswer"],
        failures: READING,
    },
    Operation {
        name: "POST /api/integrations/push/v1/sync",
        parameters: &["header Idempotency-Key!"],
        body: "BeginRequest",
        answers: &["OpenSync"],
        failures: &[
            "400 invalid_json",
            "400 invalid_request +",
            "400 missing_idempotency_key",
            "400 invalid_idempotency_key +",
            "401 invalid_key",
            "403 integration_unavailable",
            "409 sync_in_progress {expiresAt, mode, syncId}",
            "409 idempotency_key_reused",
            "409 in_progress",
            "413 payload_too_large {limit}",
            "429 rate_limited",
            "500 internal_error +",
            "504 timeout +",
        ],
    },
    Operation {
        name: "PATCH /api/integrations/push/v1/sync",
        parameters: &["header Idempotency-Key!", "query validate +"],
        body: "CompleteRequest",
        answers: &["CompleteAnswer", "ValidatedComplete +"],
        failures: &[
            "400 invalid_json",
            "400 invalid_request +",
            "400 invalid_sync_id",
            "400 missing_idempotency_key",
            "400 invalid_idempotency_key +",
            "401 invalid_key",
            "403 integration_unavailable",
            "404 sync_not_found",
            "409 no_open_sync",
            "409 idempotency_key_reused",
            "409 in_progress",
            "409 removal_guard {count, limit, share} +",
            "413 payload_too_large {limit}",
            "429 rate_limited",
            "500 internal_error +",
            "504 timeout +",
        ],
    },
    Operation {
        name: "POST /api/integrations/push/v1/records",
        parameters: &["header Idempotency-Key!", "query validate"],
        body: "PushRequest",
        answers: &["PushAnswer", "DryRunAnswer"],
        failures: &[
            "400 invalid_json",
            "400 invalid_request",
            "400 missing_idempotency_key",
            "400 invalid_idempotency_key +",
            "401 invalid_key",
            "403 integration_unavailable",
            "409 no_open_sync",
            "409 idempotency_key_reused",
            "409 in_progress",
            "413 payload_too_large {limit}",
            "413 too_many_records {limit, received}",
            "429 rate_limited",
            "500 internal_error +",
            "504 timeout +",
        ],
    },
    Operation {
        name: "GET /api/integrations/push/v1/sync/rejections",
        parameters: &[
            "query syncId",
            "query type",
            "query resolved +",
            "query after",
            "query limit",
        ],
        body: "",
        answers: &["RejectionsAnswer"],
        failures: &[
            "400 invalid_sync_id",
            "400 invalid_type",
            "400 invalid_cursor",
            "400 invalid_limit",
            "401 invalid_key",
            "403 integration_unavailable",
            "404 sync_not_found",
            "429 rate_limited",
            "500 internal_error +",
        ],
    },
    Operation {
        name: "GET /api/integrations/push/v1/syncs +",
        parameters: &["query after", "query limit"],
        body: "",
        answers: &["SyncsAnswer"],
        failures: &[
            "400 invalid_cursor",
            "400 invalid_limit",
            "401 invalid_key",
            "403 integration_unavailable",
            "429 rate_limited",
            "500 internal_error",
        ],
    },
    Operation {
        name: "GET /api/integrations/push/v1/contacts +",
        parameters: &["query externalId!"],
        body: "",
        answers: &["ContactAnswer"],
        failures: &[
            "400 invalid_request",
            "401 invalid_key",
            "403 integration_unavailable",
            "404 contact_not_found",
            "429 rate_limited",
            "500 internal_error",
        ],
    },
    Operation {
        name: "POST /api/integrations/push/v1/mcp",
        parameters: &["header MCP-Protocol-Version +"],
        body: "",
        answers: &["JsonRpcResponse"],
        failures: &[
            "202 +",
            "400 unsupported_protocol_version +",
            "401 invalid_key",
            "403 integration_unavailable",
            "403 origin_not_allowed +",
            "405 use_post",
            "429 rate_limited",
        ],
    },
    Operation {
        name: "POST /api/formulas/v1/mcp",
        parameters: &["header MCP-Protocol-Version +"],
        body: "",
        answers: &["JsonRpcResponse"],
        failures: &[
            "202 +",
            "400 unsupported_protocol_version +",
            "401 invalid_key",
            "403 origin_not_allowed +",
            "405 use_post",
            "429 rate_limited +",
        ],
    },
];

/// What a request that only reads may be refused for.
const READING: &[&str] = &[
    "401 invalid_key",
    "403 integration_unavailable",
    "429 rate_limited",
    "500 internal_error +",
];

/// The fields of every type that the contract describes.
pub(super) const FIELDS: &[(&str, &str)] = &[
    (
        "SendRequest",
        "campaign_id! recipients! field_types require_variable_images api_key",
    ),
    (
        "Recipient",
        "reference first_name last_name address_1 address_2 city state zip birthday email+ phone+ organization+",
    ),
    ("SendResponse", "summary! results! results_truncated"),
    (
        "Summary",
        "received! mailed! notMailed! unparseableTypedValues computedFieldsIgnored longNamesIgnored+ birthdaysNotRead+",
    ),
    (
        "Result",
        "reference! address! status! reason detail! homesFound homesMailed product_type postage mail_by_date warnings \
         return_address_fallback return_address_reason",
    ),
    ("Warning", "code! field! detail!"),
    (
        "IntegrationAnswer",
        "integration! openSync! limits! nextStep!",
    ),
    ("IntegrationView", "id! name! status! setupComplete!"),
    ("OpenSyncView", "id! mode! expiresAt! batchesReceived!"),
    (
        "Limits",
        "recordsPerBatch! bytesPerBatch! declaredFields! syncExpiryHours!",
    ),
    ("SchemaAnswer", "fields!"),
    ("Field", "key! label! type! semantic! options"),
    ("Declaration", "fields!"),
    ("DeclaredField", "key! label type options semantic"),
    ("DeclareAnswer", "ok! added! noLongerSent!"),
    ("SyncAnswer", "sync!"),
    (
        "SyncView",
        "id! mode! status! expiresAt! batchesReceived! recordsUpserted! recordsDeleted! recordsRejected! begunAt!+ \
         markedRemoved!+",
    ),
    ("BeginRequest", "mode"),
    ("OpenSync", "syncId! mode! expiresAt!"),
    ("CompleteRequest", "syncId confirmRemoval+"),
    (
        "CompleteAnswer",
        "ok! syncId! mode! recordsUpserted! recordsDeleted! recordsRejected! markedRemoved!",
    ),
    ("PushRequest", "records!"),
    ("Record", "external_id! op fields"),
    (
        "PushAnswer",
        "accepted! deleted! rejected! rejections! warnings!",
    ),
    (
        "DryRunAnswer",
        "validated! accepted! rejected! rejections! warnings!",
    ),
    ("Rejection", "index! externalId! code! field message!"),
    (
        "WarningGroup",
        "index! externalId! code! field! message! count! externalIds!",
    ),
    ("RejectionsAnswer", "syncId! type! items! nextAfter!"),
    (
        "RejectionItem",
        "id! batch! index! externalId! code! field! message! resolved+",
    ),
    ("Error", "code! message!"),
    ("PushFailure", "error!"),
    ("PushError", "code! message! details"),
    (
        "PushErrorDetails",
        "count+ expiresAt fields limit mode received share+ syncId",
    ),
    (
        "QrScanned",
        "event! id! test scanned_at! campaign! recipient! location! destination! automated+",
    ),
    ("EventCampaign", "id! name!"),
    (
        "EventRecipient",
        "first_name! last_name! email! phone! address_1! address_2! city! state! zip!",
    ),
    ("EventLocation", "city! region! latitude! longitude!"),
];

/// Types of what the service adds, which the contract does not know.
pub(super) const ADDED_TYPES: &[&str] = &[
    "ContactAnswer",
    "ContactIssue",
    "EventMailpiece",
    "JsonRpcError",
    "JsonRpcResponse",
    "MailpieceChanged",
    "RequestAnswer",
    "ScansAnswer",
    "SendValidation",
    "SyncsAnswer",
    "ValidatedComplete",
    "ValidationSummary",
];

/// The words that values are taken from: of a type, or of a field.
pub(super) const WORDS: &[(&str, &str)] = &[
    ("CustomFieldType", "text number date yes_no"),
    ("Status", "mailed not_mailed would_mail+"),
    (
        "Reason",
        "invalid_address do_not_mail filtered_location filtered_conditions budget_exceeded duplicate_recent payment_failed \
         no_homes_found request_capacity_reached text_overflow variable_image_missing unsupported_characters \
         removed_by_sender",
    ),
    (
        "Warning.code",
        "variable_image_fallback variable_image_blank qr_fallback_link text_overlap text_unmeasurable text_curve_too_long \
         value_cut+ address_corrected+ birthday_not_read+",
    ),
    ("Postage", "standard first_class"),
    (
        "ReturnAddressReason",
        "missing_token_value unverified_address verification_limit_reached",
    ),
    ("FieldType", "text number date yes_no choice"),
    (
        "Semantic",
        "first_name last_name address_1 address_2 city state zip email phone organization",
    ),
    ("SyncMode", "full delta"),
    ("SyncStatus", "open completed+ expired+"),
    (
        "IntegrationStatus",
        "setup_needed ready syncing paused+ disconnected+",
    ),
    ("Op", "upsert delete"),
    (
        "IssueCode",
        "missing_external_id invalid_external_id unknown_field invalid_type invalid_email duplicate_in_batch \
         record_too_large invalid_record+",
    ),
    ("IssueKind", "rejection warning"),
    ("JsonRpcError.code", "-32700 -32600 -32601 -32602+ -32603"),
    ("RequestStatus", "running+ done+ unknown+"),
    ("QrScanned.event", "qr.scanned"),
];
