//! Boxes: PO Box (Publication 28 §281), rural route (§241), highway contract (§251), military
//! (§238) and general delivery (§261).

use super::{DeliveryLine, InputLine, units};
use crate::{casing, line::AddressWord};

/// The longest house-number-like part of a box, in bytes; what is longer is no box number.
const BOX_NUMBER_BYTES_MAX: usize = 12;

/// Takes the box out of a line's words and returns what is left. A box that is named as the post
/// office's or a route's comes before one that is only `Box 12`.
pub(super) fn take_box<'a>(
    delivery: &mut DeliveryLine,
    mut words: Vec<AddressWord<'a>>,
) -> Vec<AddressWord<'a>> {
    let named = (0..words.len()).find_map(|start| Some((start, read_box(&words, start)?)));
    let found = named.or_else(|| {
        (0..words.len()).find_map(|start| Some((start, read_unnamed_box(&words[start..])?)))
    });
    let Some((start, (found, used))) = found else {
        return words;
    };
    match found {
        BoxAddress::PostOffice(number) if delivery.po_box.is_empty() => delivery.po_box = number,
        BoxAddress::Route(route, number) if delivery.rural_route.is_empty() => {
            delivery.rural_route = route;
            delivery.box_number = number;
        }
        BoxAddress::General if delivery.street.is_empty() => {
            delivery.street = "General Delivery".to_owned();
        }
        _ => return words,
    }
    if let Some(before) = start.checked_sub(1) {
        words[before].ends_segment = true;
    }
    words.drain(start..start + used);
    words
}

/// True when a box of any kind begins the words.
pub(super) fn begins_with_box(words: &[AddressWord<'_>]) -> bool {
    read_box(words, 0).is_some() || read_unnamed_box(words).is_some()
}

enum BoxAddress {
    /// The number behind `PO Box`.
    PostOffice(String),
    /// `RR 2`, `HC 68`, `PSC 802`, and the box number, which may be missing.
    Route(String, String),
    General,
}

fn read_box(words: &[AddressWord<'_>], start: usize) -> Option<(BoxAddress, usize)> {
    let here = &words[start..];
    let opens = start == 0 || words[start - 1].ends_segment;
    read_post_office_box(here)
        .or_else(|| read_route(here, opens))
        .or_else(|| read_general_delivery(here))
}

/// `PO Box 12` in its spellings.
fn read_post_office_box(words: &[AddressWord<'_>]) -> Option<(BoxAddress, usize)> {
    let upper = |index: usize| words.get(index).map_or("", |word| word.upper);
    let (named, is_whole) = match (upper(0), upper(1)) {
        ("P", "OBOX" | "OB") => (2, true),
        ("P", "O") | ("POST", "OFFICE") => (2, false),
        ("POBOX" | "POB" | "POBX" | "PBOX" | "PO-BOX" | "P-O-BOX", _) => (1, true),
        ("PO" | "P/O" | "P-O" | "P0" | "POSTOFFICE", _) => (1, false),
        (glued, _) if glued.starts_with('P') => {
            let number = read_glued_box_number(glued, &["POBOX", "POBX", "POB", "PBOX"])?;
            return Some((BoxAddress::PostOffice(number), 1));
        }
        _ => return None,
    };
    if let Some(number) = read_glued_box_number(upper(named), &["BOX"]) {
        return Some((BoxAddress::PostOffice(number), named + 1));
    }
    let kind = count_box_words(&words[named..]);
    let (number, used) = read_box_number(words, named + kind)?;
    let is_box = is_whole || kind > 0 || number.bytes().any(|byte| byte.is_ascii_digit());
    is_box.then_some((BoxAddress::PostOffice(number), used))
}

/// `Box 12`, `Drawer 12`, `Lock Box 12`, `Caller 12`: post office boxes all (§281).
fn read_unnamed_box(words: &[AddressWord<'_>]) -> Option<(BoxAddress, usize)> {
    let upper = |index: usize| words.get(index).map_or("", |word| word.upper);
    let named = match (upper(0), upper(1)) {
        ("LOCK", "BOX" | "DRAWER") | ("FIRM", "CALLER") => 2,
        ("CALLER" | "CALLERS", "SERVICE" | "SERVICES" | "SVC" | "BOX") => 2,
        ("BOX" | "BX" | "CALLER" | "DRAWER" | "LOCKBOX" | "LBX", _) => 1,
        _ => return None,
    };
    let (number, used) = read_box_number(words, named)?;
    (number.bytes().any(|byte| byte.is_ascii_digit()))
        .then_some((BoxAddress::PostOffice(number), used))
}

/// How many words say that a box follows: `Box`, `Caller Service`.
fn count_box_words(words: &[AddressWord<'_>]) -> usize {
    let upper = |index: usize| words.get(index).map_or("", |word| word.upper);
    match (upper(0), upper(1)) {
        ("CALLER", "SERVICE" | "SVC") => 2,
        ("BOX" | "BX" | "DRAWER" | "BIN" | "LOCKBOX" | "CALLER" | "BOXES", _) => 1,
        _ => 0,
    }
}

/// The number behind letters that it is glued to: `POBox884`.
fn read_glued_box_number(word: &str, letters: &[&str]) -> Option<String> {
    let number = letters.iter().find_map(|head| word.strip_prefix(head))?;
    let is_number =
        number.starts_with(|c: char| c.is_ascii_digit()) && number.len() <= BOX_NUMBER_BYTES_MAX;
    is_number.then(|| number.to_owned())
}

/// The box number at `index`, behind an optional `#`, and the words used up to its end.
fn read_box_number(words: &[AddressWord<'_>], index: usize) -> Option<(String, usize)> {
    let signs = words[index.min(words.len())..]
        .iter()
        .take_while(|word| matches!(word.upper, "#" | "NO" | "NUMBER" | "NUM"))
        .count();
    let at = index + signs;
    let word = words.get(at)?;
    let is_number = word.has_digit() || word.is_letter();
    if !is_number || word.upper.len() > BOX_NUMBER_BYTES_MAX || casing::is_ordinal(word.upper) {
        return None;
    }
    match words.get(at + 1) {
        // `Box 164 A` is `Box 164A`.
        Some(letter)
            if word.is_number()
                && letter.is_letter()
                && !word.ends_segment
                && (letter.ends_segment || words.len() == at + 2) =>
        {
            Some((format!("{}{}", word.upper, letter.upper), at + 2))
        }
        _ => Some((word.upper.to_owned(), at + 1)),
    }
}

/// A rural route, highway contract route or military box.
fn read_route(words: &[AddressWord<'_>], opens: bool) -> Option<(BoxAddress, usize)> {
    let upper = |index: usize| words.get(index).map_or("", |word| word.upper);
    let (kind, named, is_certain) = match (upper(0), upper(1), upper(2)) {
        ("RURAL", "FREE", "DELIVERY") => ("RR", 3, true),
        ("RURAL", "DELIVERY" | "ROUTE" | "RTE" | "RT", _) => ("RR", 2, true),
        ("RURALROUTE", ..) => ("RR", 1, true),
        ("R", "F", "D") => ("RR", 3, true),
        ("R", "R" | "D", _) => ("RR", 2, true),
        ("RR" | "RFD" | "RURAL" | "RD", ..) => ("RR", 1, upper(0) != "RD"),
        ("RT" | "RTE" | "ROUTE", ..) => ("RR", 1, false),
        ("HIGHWAY" | "HWY", "CONTRACT", "ROUTE" | "RTE" | "RT") => ("HC", 3, true),
        ("HIGHWAY" | "HWY", "CONTRACT", _) => ("HC", 2, true),
        ("STAR", "ROUTE" | "RTE" | "RT", _) => ("HC", 2, true),
        ("H", "C", "R") => ("HC", 3, true),
        ("H", "C", _) => ("HC", 2, true),
        ("HC" | "HCR" | "HCO", ..) => ("HC", 1, true),
        ("PSC", ..) => ("PSC", 1, true),
        ("CMR", ..) => ("CMR", 1, true),
        ("OMC", ..) => ("OMC", 1, true),
        ("UMR", ..) => ("UMR", 1, true),
        ("USS" | "USNS" | "USCGC", ..) if opens => return read_ship_address(words),
        ("UNIT", ..) => ("Unit", 1, false),
        (glued, ..) => return read_glued_route(glued, words, opens),
    };
    let named = named + usize::from(names_route_again(kind, upper(named)));
    if words.iter().take(named).any(|word| word.ends_segment) {
        return None;
    }
    if matches!(kind, "RR" | "OMC") && is_certain && matches!(upper(named), "BOX" | "BX") {
        // The route's number is missing; the box is known all the same.
        let (box_number, used) = read_box_number(words, named + 1)?;
        return Some((BoxAddress::Route(kind.to_owned(), box_number), used));
    }
    let (number, used) = read_box_number(words, named)?;
    let number = match number.strip_prefix('R') {
        // `HC R32`.
        Some(digits) if kind == "HC" && digits.starts_with(|c: char| c.is_ascii_digit()) => {
            digits.to_owned()
        }
        _ => number,
    };
    let found = finish_route(kind, number, words, used, is_certain && opens)?;
    (opens || is_certain).then_some(found)
}

/// True for `RR 2` and `HC 68`: routes along which boxes stand.
pub(crate) fn is_numbered_route(route: &str) -> bool {
    route.starts_with("RR ") || route.starts_with("HC ")
}

/// The `Route` of `RFD Route 4`, the `R` of `HC R 32`.
fn names_route_again(kind: &str, word: &str) -> bool {
    match word {
        "ROUTE" | "RTE" | "RT" => matches!(kind, "RR" | "HC"),
        "R" => kind == "HC",
        _ => false,
    }
}

/// A ship, with or without a box (§238): `USS Nimitz Box 12`. Its name goes on to the box, a unit or the segment's end.
fn read_ship_address(words: &[AddressWord<'_>]) -> Option<(BoxAddress, usize)> {
    let ends_name = |index: usize| {
        words[index - 1].ends_segment
            || matches!(words[index].upper, "BOX" | "BX" | "UNIT")
            || units::read_unit(&words[index..], InputLine::Address1).is_some()
    };
    let end = (1..words.len())
        .find(|&index| ends_name(index))
        .unwrap_or(words.len());
    if end < 2 {
        return None;
    }
    let name = casing::capitalise_name(words[..end].iter().map(|word| word.sent));
    let boxed = words
        .get(end)
        .filter(|word| matches!(word.upper, "BOX" | "BX"));
    match boxed.and_then(|_| read_box_number(words, end + 1)) {
        Some((number, used)) => Some((BoxAddress::Route(name, number), used)),
        None => Some((BoxAddress::Route(name, String::new()), end)),
    }
}

/// `RR2`, `HC68`.
fn read_glued_route(
    word: &str,
    words: &[AddressWord<'_>],
    opens: bool,
) -> Option<(BoxAddress, usize)> {
    let (kind, number) = [
        ("RR", "RR"),
        ("RFD", "RR"),
        ("HCR", "HC"),
        ("HC", "HC"),
        ("PSC", "PSC"),
        ("CMR", "CMR"),
    ]
    .into_iter()
    .find_map(|(letters, kind)| Some((kind, word.strip_prefix(letters)?)))?;
    let number = number.trim_start_matches('-');
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| finish_route(kind, number.to_owned(), words, 1, opens))?
}

/// Reads the box behind a route. Without a box only a spelling that is certain makes a route, and
/// only where it is all of the segment but for units: `Route 9`, `Unit 5` and the `RR 620` of `12 RR 620`, a ranch road, are other
/// things.
fn finish_route(
    kind: &str,
    number: String,
    words: &[AddressWord<'_>],
    used: usize,
    is_certain: bool,
) -> Option<(BoxAddress, usize)> {
    let number = number.trim_start_matches('0');
    let route = format!("{kind} {}", if number.is_empty() { "0" } else { number });
    let upper = |index: usize| words.get(index).map_or("", |word| word.upper);
    let is_post_office = upper(used) == "PO" && upper(used + 1) == "BOX";
    let used = used + usize::from(is_post_office);
    let next = upper(used);
    if matches!(next, "BOX" | "BX") || (next == "#" && is_certain) {
        let signs = usize::from(next != "#");
        let (box_number, used) = read_box_number(words, used + signs)?;
        return Some((BoxAddress::Route(route, box_number), used));
    }
    let has_unit = || units::read_unit(&words[used..], InputLine::Address1).is_some();
    let ends = used == words.len() || words[used - 1].ends_segment || has_unit();
    (is_certain && ends).then(|| (BoxAddress::Route(route, String::new()), used))
}

fn read_general_delivery(words: &[AddressWord<'_>]) -> Option<(BoxAddress, usize)> {
    match words {
        [first, second, ..]
            if matches!(first.upper, "GENERAL" | "GEN")
                && matches!(second.upper, "DELIVERY" | "DEL" | "DELIV")
                && (words.len() == 2 || second.ends_segment) =>
        {
            Some((BoxAddress::General, 2))
        }
        _ => None,
    }
}
