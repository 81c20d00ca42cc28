//! What becomes of mailpieces between their charge and the press, when somebody does not want them any more.
//!
//! [`cancel_mailpieces`] cancels what an order names: a mailpiece, those of a request, those of a sender's reference. It is one
//! transaction under the campaign's lock, with the money: a printer has a mailpiece, or it is cancelled and refunded.

mod cancel;

pub use cancel::{CancelMailpiecesError, MAILPIECES_PER_ORDER, cancel_mailpieces};
