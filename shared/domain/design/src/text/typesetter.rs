//! The memory of a thread that sets text.

use std::collections::HashMap;
use std::sync::Arc;

use harfrust::{Buffer, Direction, Script, ShapeOptions, ShapePlan, ShaperFont, Tag};

use crate::element::TextBox;
use crate::font::Font;
use crate::limits::WORDS_KEPT;
use crate::style::{Colour, HorizontalAlignment, VerticalAlignment};
use crate::text::ShapingFace;
use crate::text::word::ShapedWord;

/// Shapes words and keeps them. Each thread that sets text has one for itself; what is decided does not depend on
/// what it has seen before. At most [`WORDS_KEPT`] words are kept.
pub struct Typesetter {
    shapers: HashMap<Font, ShaperFont<'static, 'static>>,
    voices: Vec<ShapingCache>,
    words_kept: usize,
    /// Room to shape in.
    buffer: Buffer,
}

/// The words shaped with one font in one script and direction.
struct ShapingCache {
    font: Font,
    script: Script,
    direction: Direction,
    plan: ShapePlan,
    words: HashMap<Box<str>, Arc<ShapedWord>>,
}

/// How lines of a given text are set, such as those of an address.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockStyle {
    /// The font.
    pub font: Font,
    /// Points, when all lines fit.
    pub size: f64,
    /// Points to which the size may shrink.
    pub smallest_size: f64,
    /// From line to line, as a multiple of the size.
    pub line_height: f64,
    /// From left to right.
    pub alignment: HorizontalAlignment,
    /// From top to bottom.
    pub vertical_alignment: VerticalAlignment,
    /// Of the letters.
    pub colour: Colour,
}

impl Default for Typesetter {
    fn default() -> Self {
        Self::new()
    }
}

impl Typesetter {
    /// One that has seen nothing yet.
    pub fn new() -> Self {
        Self {
            shapers: HashMap::new(),
            voices: Vec::new(),
            words_kept: 0,
            buffer: Buffer::new(),
        }
    }

    /// A word as it is shaped with a font, from the memory if it is there.
    pub(crate) fn shape_word(
        &mut self,
        font: Font,
        script: Script,
        is_right_to_left: bool,
        text: &str,
    ) -> Arc<ShapedWord> {
        let direction = if is_right_to_left {
            Direction::RightToLeft
        } else {
            Direction::LeftToRight
        };
        let index = self.cache_index(font, script, direction);
        if let Some(word) = self.voices[index].words.get(text) {
            return Arc::clone(word);
        }
        if self.words_kept >= WORDS_KEPT {
            self.voices.iter_mut().for_each(|voice| voice.words.clear());
            self.words_kept = 0;
        }
        let word = Arc::new(self.shape_uncached(index, text));
        self.voices[index]
            .words
            .insert(text.into(), Arc::clone(&word));
        self.words_kept += 1;
        word
    }

    /// The place of the voice. There are few: a font, a script and a direction that a text had.
    fn cache_index(&mut self, font: Font, script: Script, direction: Direction) -> usize {
        let known = self.voices.iter().position(|voice| {
            voice.font == font && voice.script == script && voice.direction == direction
        });
        known.unwrap_or_else(|| {
            let plan = ShapePlan::new(
                &ShapingFace::for_font(font).shaping,
                direction,
                Some(script),
                None,
                &[],
            );
            self.voices.push(ShapingCache {
                font,
                script,
                direction,
                plan,
                words: HashMap::new(),
            });
            self.voices.len() - 1
        })
    }

    fn shape_uncached(&mut self, voice: usize, text: &str) -> ShapedWord {
        let ShapingCache {
            font,
            script,
            direction,
            plan,
            ..
        } = &self.voices[voice];
        let shaper = self
            .shapers
            .entry(*font)
            .or_insert_with(|| ShaperFont::new(&ShapingFace::for_font(*font).shaping));
        self.buffer.clear();
        self.buffer.push_str(text);
        self.buffer.set_direction(*direction);
        self.buffer.set_script(Some(*script));
        let shaped = harfrust::shape(
            shaper,
            &mut self.buffer,
            ShapeOptions::new().plan(Some(plan)),
        );
        debug_assert!(
            shaped.is_ok(),
            "the plan is of the buffer's script and direction"
        );
        ShapedWord::from_buffer(*font, text, shaper, &self.buffer)
    }
}

/// The script by Unicode's name of it.
pub(crate) fn shaping_script(script: unicode_script::Script) -> Script {
    let tag = Tag::from_be_bytes(script.as_iso15924_tag().to_be_bytes());
    Script::from_iso15924_tag(tag).unwrap_or(Script::UNKNOWN)
}

impl std::fmt::Debug for Typesetter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Typesetter")
            .field("words_kept", &self.words_kept)
            .finish_non_exhaustive()
    }
}

/// The setting of a text box, whatever its text.
impl From<&TextBox> for BlockStyle {
    fn from(text: &TextBox) -> Self {
        Self {
            font: text.font,
            size: text.size,
            smallest_size: text.smallest_size(),
            line_height: text.line_height,
            alignment: text.alignment,
            vertical_alignment: text.vertical_alignment,
            colour: text.colour,
        }
    }
}
