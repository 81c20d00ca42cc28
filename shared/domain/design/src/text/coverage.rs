//! Which font prints a character, and which characters none prints.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{EmojiStatus, GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

use crate::font::Font;
use crate::text::ShapingFace;

/// Asks for the picture of a character.
const EMOJI_SELECTOR: char = '\u{fe0f}';

/// Asks for the plain form of a character.
const TEXT_SELECTOR: char = '\u{fe0e}';

/// Makes a key of the digit before it.
const KEYCAP: char = '\u{20e3}';

/// What a program writes for a picture within a text, and for a character that it could not read.
const STAND_INS: [char; 2] = ['\u{fffc}', '\u{fffd}'];

/// The font that prints what a reader sees as one character: the wanted one, else the first of its fallbacks.
pub(crate) fn find_font(font: Font, character: &str) -> Option<Font> {
    is_printable(character)
        .then(|| font_choices(font).find(|font| font_covers(*font, character)))?
}

/// The font that prints all of these characters: the wanted one, else the first of its fallbacks.
pub(crate) fn find_font_for_all(font: Font, characters: &str) -> Option<Font> {
    let mut all = characters.graphemes(true);
    all.all(is_printable).then(|| {
        font_choices(font).find(|font| {
            characters
                .graphemes(true)
                .all(|one| font_covers(*font, one))
        })
    })?
}

fn font_choices(font: Font) -> impl Iterator<Item = Font> {
    std::iter::once(font).chain(font.fallbacks())
}

/// Whether it is made of characters that are printed with a font at all.
fn is_printable(character: &str) -> bool {
    let is_picture = !character.contains(TEXT_SELECTOR) && character.chars().any(is_emoji);
    !is_picture
        && character
            .chars()
            .all(|character| !STAND_INS.contains(&character) && has_meaning(character))
}

/// Emoji are colour pictures; the black shapes that some fonts have in their place are not what was sent.
fn is_emoji(character: char) -> bool {
    use EmojiStatus::{
        EmojiPresentation, EmojiPresentationAndEmojiComponent,
        EmojiPresentationAndModifierAndEmojiComponent, EmojiPresentationAndModifierBase,
    };
    matches!(character, EMOJI_SELECTOR | KEYCAP)
        || matches!(
            character.emoji_status(),
            EmojiPresentation
                | EmojiPresentationAndEmojiComponent
                | EmojiPresentationAndModifierAndEmojiComponent
                | EmojiPresentationAndModifierBase
        )
}

/// Control characters, and those whose meaning is private or not given yet, have nothing to print.
fn has_meaning(character: char) -> bool {
    !matches!(
        character.general_category(),
        GeneralCategory::Control | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
    )
}

/// Whether the font has every part of the character, apart or composed.
fn font_covers(font: Font, character: &str) -> bool {
    let charmap = ShapingFace::for_font(font).shaping.charmap();
    let has = |part: char| {
        is_invisible(part) || part.is_whitespace() || charmap.map_unicode(part).is_some()
    };
    character.chars().all(has) || character.nfc().all(has)
}

/// Characters that only steer others (Unicode's `Default_Ignorable_Code_Point`). They need no glyph.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}
