//! What the functions on texts do.

use std::borrow::Cow;

use crate::machine::{Answer, Machine, error};
use crate::node::Node;
use crate::value::Cell;

/// The beginning of a text, for a message.
pub(in crate::function) fn shown(text: &str) -> String {
    const SHOWN_CHARS: usize = 40;
    text.chars().take(SHOWN_CHARS).collect()
}

/// A text that is going to be searched, with the steps for it taken.
pub(in crate::function) fn searched<'a>(
    machine: &mut Machine<'a>,
    node: &'a Node,
) -> Answer<'a, Cow<'a, str>> {
    let text = machine.text(node)?;
    machine.spend_text(text.len())?;
    Ok(text)
}

pub(super) fn changed<'a>(
    machine: &mut Machine<'a>,
    node: &'a Node,
    change: fn(&str) -> String,
) -> Answer<'a> {
    let text = searched(machine, node)?;
    // A change of case makes a text three times as long at the most.
    Ok(Cell::Text(Cow::Owned(change(&text))))
}

pub(super) fn compared<'a>(
    machine: &mut Machine<'a>,
    arguments: &'a [Node],
    compare: fn(&str, &str) -> bool,
) -> Answer<'a> {
    let (text, part) = (searched(machine, &arguments[0])?, searched(machine, &arguments[1])?);
    Ok(Cell::YesNo(compare(&text, &part)))
}

pub(super) fn split<'a>(
    machine: &mut Machine<'a>,
    arguments: &'a [Node],
    pick: for<'t> fn(&'t str, &str) -> &'t str,
) -> Answer<'a> {
    let (text, separator) = (searched(machine, &arguments[0])?, searched(machine, &arguments[1])?);
    if separator.is_empty() {
        return error("the separator is blank");
    }
    Ok(Cell::Text(match text {
        Cow::Borrowed(text) => Cow::Borrowed(pick(text, &separator)),
        Cow::Owned(text) => Cow::Owned(pick(&text, &separator).to_owned()),
    }))
}

/// A count of characters, one when there is none.
pub(super) fn count<'a>(machine: &mut Machine<'a>, node: Option<&'a Node>) -> Answer<'a, usize> {
    let Some(node) = node else {
        return Ok(1);
    };
    match usize::try_from(machine.whole(node)?) {
        Ok(count) => Ok(count),
        Err(_) => error("a count of characters is not negative"),
    }
}

/// A part of a text: the window tells the first character, from 0, and the count, of the text's length.
pub(super) fn part<'a>(
    machine: &mut Machine<'a>,
    node: &'a Node,
    window: impl Fn(usize) -> (usize, usize),
) -> Answer<'a> {
    let text = searched(machine, node)?;
    let (skipped, count) = window(text.chars().count());
    let byte = |text: &str, chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let start = byte(&text, skipped);
    let end = start + byte(&text[start..], count);
    Ok(Cell::Text(match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
    }))
}

pub(super) fn join_with<'a>(machine: &mut Machine<'a>, arguments: &'a [Node]) -> Answer<'a> {
    let separator = machine.text(&arguments[0])?;
    let mut joined = String::new();
    for node in &arguments[1..] {
        let text = machine.text(node)?;
        if text.is_empty() {
            continue;
        }
        if !joined.is_empty() {
            machine.append(&mut joined, &separator)?;
        }
        machine.append(&mut joined, &text)?;
    }
    Ok(Cell::Text(Cow::Owned(joined)))
}

pub(super) fn substitute<'a>(machine: &mut Machine<'a>, arguments: &'a [Node]) -> Answer<'a> {
    let text = searched(machine, &arguments[0])?;
    let (old, new) = (machine.text(&arguments[1])?, machine.text(&arguments[2])?);
    if old.is_empty() {
        return Ok(Cell::Text(text));
    }
    let mut made = String::with_capacity(text.len());
    for (at, piece) in text.split(&*old).enumerate() {
        if at > 0 {
            machine.append(&mut made, &new)?;
        }
        machine.append(&mut made, piece)?;
        machine.spend(1)?;
    }
    Ok(Cell::Text(Cow::Owned(made)))
}

pub(super) fn repeat<'a>(machine: &mut Machine<'a>, arguments: &'a [Node]) -> Answer<'a> {
    let text = machine.text(&arguments[0])?;
    let count = count(machine, arguments.get(1))?;
    machine.spend_text(text.len().saturating_mul(count))?;
    Ok(Cell::Text(Cow::Owned(text.repeat(count))))
}

/// One space for each run of white space, none outside.
pub(super) fn trim(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words begin behind whatever is no letter. What follows an apostrophe is a word when it has more than one
/// letter: O'Neil, but Ada's.
pub(super) fn proper(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut is_start = true;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if is_start {
            // The upper case of ß is two letters, of which one begins the word.
            let mut upper = character.to_uppercase();
            made.extend(upper.next());
            made.extend(upper.flat_map(char::to_lowercase));
        } else {
            made.extend(character.to_lowercase());
        }
        is_start = match character {
            '\'' | '’' => rest.clone().take_while(|next| next.is_alphabetic()).take(2).count() > 1,
            // A digit's letters belong to it: 3rd.
            _ => !character.is_alphanumeric(),
        };
    }
    made
}
