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

/// Characters of the name of a recipient's field. The contract gives none; a longer name is
/// refused rather than cut, because a cut name could meet another column's.
pub const FIELD_NAME_CHARS: usize = 200;

/// Characters of a recipient's `reference`. The contract gives none; it is echoed, so it must be bounded.
pub const REFERENCE_CHARS: usize = 600;

/// Active Full access and Formulas only keys that a team may hold together.
pub const ACTIVE_TEAM_KEYS: i64 = 10;
