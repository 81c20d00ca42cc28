//! What an operation of the post says of a mailpiece.

use model::mailpiece_state::MailpieceState;

/// Operations that the post's machines do with letters, cards and flats, by their codes: the first and the last of each range,
/// and what a mailpiece is after it. They are the numbers of its operations as they have been published; the post's own list is
/// the last word, and a mapping file changes or adds what differs.
///
/// Nothing says by itself that a mailpiece is forwarded, returned or delivered, but words: files name such events so, or have
/// codes of their own for them, which the mapping file then names.
pub(crate) const OPERATIONS: &[(&str, &str, MailpieceState)] = &[
    // Flats: automated sorting, outgoing and incoming.
    ("331", "338", MailpieceState::InTransit),
    ("401", "407", MailpieceState::InTransit),
    ("441", "448", MailpieceState::InTransit),
    ("461", "468", MailpieceState::InTransit),
    ("530", "537", MailpieceState::InTransit),
    // Flats in the order of the carrier's walk: first and second pass.
    ("538", "538", MailpieceState::InTransit),
    ("539", "539", MailpieceState::OutForDelivery),
    // Letters: readers and sorters, outgoing and incoming.
    ("831", "837", MailpieceState::InTransit),
    ("841", "847", MailpieceState::InTransit),
    ("851", "857", MailpieceState::InTransit),
    ("861", "867", MailpieceState::InTransit),
    ("871", "879", MailpieceState::InTransit),
    ("881", "887", MailpieceState::InTransit),
    ("891", "899", MailpieceState::InTransit),
    ("971", "979", MailpieceState::InTransit),
    // Letters in the order of the carrier's walk: first and second pass. The second is made in the morning of the delivery.
    ("908", "908", MailpieceState::InTransit),
    ("909", "909", MailpieceState::OutForDelivery),
    ("914", "914", MailpieceState::InTransit),
    ("915", "915", MailpieceState::OutForDelivery),
    ("918", "918", MailpieceState::InTransit),
    ("919", "919", MailpieceState::OutForDelivery),
];

/// Events that are named by words, in capital letters.
pub(crate) const WORDS: &[(&str, MailpieceState)] = &[
    ("ENTERED", MailpieceState::Entered),
    ("ACCEPTED", MailpieceState::Entered),
    ("IN TRANSIT", MailpieceState::InTransit),
    ("OUT FOR DELIVERY", MailpieceState::OutForDelivery),
    ("LOGICAL DELIVERY", MailpieceState::Delivered),
    ("DELIVERED", MailpieceState::Delivered),
    ("FORWARDED", MailpieceState::Forwarded),
    ("RETURN TO SENDER", MailpieceState::Returned),
    ("RETURNED", MailpieceState::Returned),
    ("RTS", MailpieceState::Returned),
];

/// A code as it is compared: without spaces around it, capital letters, underscores as spaces, numbers with three digits at least.
pub(crate) fn normalise_code(code: &str) -> String {
    let code = code.trim().to_uppercase().replace('_', " ");
    if !code.is_empty() && code.len() < 3 && code.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{code:0>3}")
    } else {
        code
    }
}
