//! The name that was probably meant.

use strsim::osa_distance;

/// Longest word that is compared, in characters, most slips in it, and most candidates: a comparison takes
/// the product of the lengths.
const MAX_WORD_CHARS: usize = 64;
const MAX_SLIPS: usize = 3;
const MAX_CANDIDATES: usize = 2_000;

/// The candidate that is nearest to a word whatever their case, when one is near enough: a slip for every three
/// characters, or the word begins it.
pub(crate) fn find_nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if length > MAX_WORD_CHARS {
        return None;
    }
    let allowed = (length / 3).clamp(1, MAX_SLIPS);
    let distance = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let is_beginning = length >= 3 && candidate.starts_with(&word);
        if is_beginning {
            1
        } else {
            osa_distance(&strip_separators(&word), &strip_separators(&candidate))
        }
    };
    candidates
        .filter(|candidate| candidate.chars().count() <= MAX_WORD_CHARS)
        .take(MAX_CANDIDATES)
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Spaces, hyphens and underscores are mistaken for each other.
fn strip_separators(name: &str) -> String {
    name.replace([' ', '-', '_'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_beginnings_are_recognised_and_strangers_are_not() {
        let names = ["first_name", "last_name", "Lifetime value", "PROPER"];
        let find = |word| find_nearest(word, names.into_iter());
        assert_eq!(find("frist_name"), Some("first_name"));
        assert_eq!(find("lifetime_value"), Some("Lifetime value"));
        assert_eq!(find("PRPER"), Some("PROPER"));
        assert_eq!(find("life"), Some("Lifetime value"));
        assert_eq!(find("zzz"), None);
        assert_eq!(find("x"), None);
    }
}
