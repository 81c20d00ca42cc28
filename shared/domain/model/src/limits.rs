//! The limits of the API contract that are facts of the wire. Those that an operator may change
//! (windows, rates, deadlines) are settings and live in the configuration.

/// Recipients in one send request (contract: Limits, Dynamic Audience API).
pub const RECIPIENTS_PER_REQUEST: usize = 5_000;

/// Centers in one request of a Neighborhood Mail campaign (contract: Limits).
pub const CENTERS_PER_REQUEST: usize = 250;

/// Homes that one request of a Neighborhood Mail campaign may mail (contract: Limits).
pub const HOMES_PER_REQUEST: usize = 10_000;

/// Bytes of a request body, of the Dynamic Audience API and of a push batch alike (4.25 MB).
pub const BODY_BYTES: usize = 4_456_448;

/// Bytes of a send response; past it only the results that need attention are listed (4 MB).
pub const RESPONSE_BYTES: usize = 4_194_304;

/// Characters of the name of a recipient's field. The contract gives none; a field with a longer name is
/// left out rather than its name cut, because a cut name could meet another column's.
pub const FIELD_NAME_CHARS: usize = 200;

/// Active Full access and Formulas only keys that a team may hold together.
pub const ACTIVE_TEAM_KEYS: i64 = 10;

/// Campaigns that a team may have before its members can make no more, those put away counted.
pub const CAMPAIGNS_PER_TEAM: i64 = 10_000;

/// Active keys that one integration may hold; they do not count toward [`ACTIVE_TEAM_KEYS`].
pub const ACTIVE_INTEGRATION_KEYS: i64 = 2;

/// Records in one push batch.
pub const RECORDS_PER_BATCH: usize = 1_000;

/// Bytes of one record of a batch, as it was sent.
pub const RECORD_BYTES: usize = 65_536;

/// Fields that an integration may declare, earlier declarations counted.
pub const DECLARED_FIELDS: usize = 1_000;

/// Choices of one declared field, and characters of a choice. The contract gives neither; a declaration is
/// loaded for each batch, so it must be bounded.
pub const OPTIONS_PER_FIELD: usize = 1_000;

/// Characters of one choice of a declared field; see [`OPTIONS_PER_FIELD`].
pub const OPTION_CHARS: usize = 200;

/// Characters of a contact's `external_id`.
pub const EXTERNAL_ID_CHARS: usize = 128;

/// Characters of an `Idempotency-Key`.
pub const IDEMPOTENCY_KEY_CHARS: usize = 200;

/// Example ids in one group of warnings.
pub const WARNING_EXAMPLES: usize = 5;

/// Items of a page when the request names no number (contract: `limit` of the rejections list).
pub const PAGE_ITEMS_DEFAULT: i64 = 100;

/// Items of a page at the most.
pub const PAGE_ITEMS: i64 = 1_000;

/// Digits of a page's cursor at the most.
pub const CURSOR_DIGITS: usize = 15;

/// Webhook endpoints that a team may hold, deleted ones aside. The contract gives none; each scan is delivered
/// to all of them, so they must be bounded.
pub const ENDPOINTS_PER_TEAM: i64 = 20;

/// Integrations that a team may make in the console. The contract gives none; a team's list of them is read whole.
pub const INTEGRATIONS_PER_TEAM: i64 = 50;

/// People that a team may have, as far as they are added in the console. The contract gives none; a team's list of
/// them is read whole.
pub const PEOPLE_PER_TEAM: i64 = 200;

/// Top-ups that a team may have asked for at a time. The contract gives none; the list is read whole.
pub const OPEN_TOP_UP_REQUESTS: i64 = 10;

/// Deliveries shown per endpoint, whose attempts are kept (contract: Delivery rules 4).
pub const DELIVERIES_SHOWN: i64 = 25;

/// Bytes kept of an endpoint's answer.
pub const ANSWER_BYTES: usize = 2_048;
