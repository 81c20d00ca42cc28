//! What processes say to each other over the broker.
//!
//! A call carries the HTTP body as it came, so that nothing is copied or decoded twice; what the
//! gateway found out about it travels in the message's headers. The type names a version: a worker
//! parks what it does not know.

mod formula;
mod push;
mod send;
mod withhold;

pub use formula::FormulaContext;
pub use push::PushContext;
pub use send::{SendContext, SendReplyContext};
pub use withhold::{CancelOrder, HoldOrder};

/// The queues of calls: those whose messages want a reply.
pub const CALL_QUEUES: &[&str] = &[SEND_QUEUE, PUSH_QUEUE, FORMULA_QUEUE];

/// The queue that mailers take sends from.
pub const SEND_QUEUE: &str = "send";

/// Type of a message on [`SEND_QUEUE`]; the body is that of POST /api/v1/recipients, the context a
/// [`SendContext`].
pub const SEND_V1: &str = "send.v1";

/// Type of a message on [`SEND_QUEUE`]; the body is that of POST /api/v1/recipients, to be checked and no more.
pub const SEND_VALIDATE_V1: &str = "send_validate.v1";

/// Type of a message on [`SEND_QUEUE`]; the body is a [`CancelOrder`].
pub const CANCEL_MAILPIECES_V1: &str = "cancel_mailpieces.v1";

/// Type of a message on [`SEND_QUEUE`]; the body is a [`HoldOrder`].
pub const HOLD_CAMPAIGN_V1: &str = "hold_campaign.v1";

/// The queue that syncers take push requests from.
pub const PUSH_QUEUE: &str = "push";

/// Type of a message on [`PUSH_QUEUE`]; the body is that of POST schema, the context a
/// [`PushContext`], as of the other types of this queue.
pub const DECLARE_V1: &str = "declare.v1";

/// Type of a message on [`PUSH_QUEUE`]; the body is that of POST sync.
pub const BEGIN_V1: &str = "begin.v1";

/// Type of a message on [`PUSH_QUEUE`]; the body is that of POST records.
pub const PUSH_V1: &str = "push.v1";

/// Type of a message on [`PUSH_QUEUE`]; the body is that of POST records, to be checked and no more.
pub const PUSH_VALIDATE_V1: &str = "push_validate.v1";

/// Type of a message on [`PUSH_QUEUE`]; the body is that of PATCH sync.
pub const COMPLETE_V1: &str = "complete.v1";

/// Type of a message on [`PUSH_QUEUE`]; the body is that of PATCH sync, to be counted and no more.
pub const COMPLETE_VALIDATE_V1: &str = "complete_validate.v1";

/// The queue that mailers take calls of formula tools from. The type is the tool's name and version
/// (`contract::mcp::FormulaTool::message_kind`), the body its arguments, the context a [`FormulaContext`].
pub const FORMULA_QUEUE: &str = "formula";

/// Type of a reply whose body is the stored answer of an earlier attempt.
pub const REPLY_REPLAYED: &str = "replayed";

/// Type of a reply whose body is the HTTP answer's, to be relayed byte for byte.
pub const REPLY_OK: &str = "ok";

/// Type of a reply whose body is the JSON form of an error.
pub const REPLY_ERROR: &str = "error";

/// The queue that dispatchers hear of waiting deliveries on.
pub const DELIVERIES_QUEUE: &str = "deliveries";

/// Type of a message on [`DELIVERIES_QUEUE`]: a hint, not the truth. The body is the ids of endpoints that have
/// new deliveries waiting, as a JSON array.
pub const DELIVERIES_WAITING_V1: &str = "deliveries_waiting.v1";
