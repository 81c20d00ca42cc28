//! A text taken apart: paragraphs of words between which a line may end, shaped.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use unicode_bidi::{BidiInfo, Level, ParagraphBidiInfo};
use unicode_linebreak::{BreakClass, break_property, linebreaks};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

use crate::font::Font;
use crate::text::coverage::{find_font, find_font_for_all};
use crate::text::typesetter::{Typesetter, shaping_script};
use crate::text::word::ShapedWord;

/// A text that is ready to be set at any size.
#[derive(Debug)]
pub(crate) struct TextAnalysis {
    /// The font asked for, whose lines give the distances.
    pub(crate) font: Font,
    /// Shaped words and spaces, in reading order.
    pub(crate) atoms: Vec<ShapedRun>,
    /// What stays together on a line, in reading order.
    pub(crate) pieces: Vec<LineSegment>,
    /// Characters that no font prints, each once, in order.
    pub(crate) unsupported: Vec<String>,
    /// Whether it has words whose ends only a dictionary knows, so that lines may end between any two letters.
    pub(crate) needs_dictionary: bool,
    /// The longest of what sticks out, anywhere. Ems.
    pub(crate) overhang: InkOverhang,
}

/// A shaped part of a text with one direction.
#[derive(Debug)]
pub(crate) struct ShapedRun {
    /// The letters.
    pub(crate) word: Arc<ShapedWord>,
    /// Odd when it runs from right to left.
    pub(crate) level: Level,
}

/// Atoms between two places where a line may end, and the space after them.
#[derive(Debug)]
pub(crate) struct LineSegment {
    /// Without the space.
    pub(crate) atoms: Range<usize>,
    /// Ems, without the space.
    pub(crate) advance: f64,
    /// Ems of the space, which does not count at the end of a line.
    pub(crate) space: f64,
    /// Ems by which ink sticks out on the left and on the right.
    pub(crate) overhang: (f64, f64),
    /// Of the paragraph: odd when it runs from right to left.
    pub(crate) base: Level,
    /// Whether a line ends after it in any case.
    pub(crate) ends_paragraph: bool,
}

/// What letters must have in common to be shaped together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShapingProperties {
    level: Level,
    script: Script,
}

impl ShapingProperties {
    fn for_latin(level: Level) -> Self {
        Self {
            level,
            script: Script::Latin,
        }
    }

    /// That of two neighbours, if they are shaped together.
    fn merge(self, other: Self) -> Option<Self> {
        let script = if is_neutral(self.script) {
            other.script
        } else {
            self.script
        };
        let is_same =
            self.level == other.level && (is_neutral(other.script) || script == other.script);
        is_same.then_some(Self { script, ..self })
    }
}

/// How far ink reaches beyond the lines of the font. Ems, 0 at least.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct InkOverhang {
    pub(crate) above: f64,
    pub(crate) below: f64,
}

impl TextAnalysis {
    /// Takes a text apart and shapes it.
    pub(crate) fn new(typesetter: &mut Typesetter, text: &str, font: Font) -> Self {
        let mut analysis = Self {
            font,
            atoms: Vec::new(),
            pieces: Vec::new(),
            unsupported: Vec::new(),
            needs_dictionary: false,
            overhang: InkOverhang::default(),
        };
        for paragraph in normalize_spaces(text).split('\n') {
            analysis.add_paragraph(typesetter, paragraph);
        }
        analysis.measure_overhang();
        analysis
    }

    /// Takes a text apart that is set in one line, whatever line feeds it has.
    pub(crate) fn new_single_line(typesetter: &mut Typesetter, text: &str, font: Font) -> Self {
        Self::new(typesetter, &normalize_spaces(text).replace('\n', " "), font)
    }

    /// The atoms of some pieces from left to right, without the space at their end.
    pub(crate) fn visual_order(&self, pieces: Range<usize>) -> Vec<&ShapedRun> {
        let pieces = &self.pieces[pieces];
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
            return Vec::new();
        };
        let atoms = &self.atoms[first.atoms.start..last.atoms.end.max(first.atoms.start)];
        if !first.base.is_rtl() && atoms.iter().all(|atom| !atom.level.is_rtl()) {
            return atoms.iter().collect();
        }
        let levels: Vec<Level> = atoms.iter().map(|atom| atom.level).collect();
        BidiInfo::reorder_visual(&levels)
            .into_iter()
            .map(|index| &atoms[index])
            .collect()
    }

    fn add_paragraph(&mut self, typesetter: &mut Typesetter, text: &str) {
        let directions = BidiLevels::from_text(text);
        let mut start = 0;
        for end in line_ends(text) {
            self.needs_dictionary |= is_within_dictionary_word(text, end);
            self.add_segment(typesetter, text, start..end, &directions);
            start = end;
        }
        if start == 0 {
            self.add_segment(typesetter, text, 0..0, &directions);
        }
        if let Some(last) = self.pieces.last_mut() {
            last.ends_paragraph = true;
        }
    }

    fn add_segment(
        &mut self,
        typesetter: &mut Typesetter,
        text: &str,
        range: Range<usize>,
        directions: &BidiLevels,
    ) {
        let whole = &text[range.clone()];
        let letters_end = range.start + whole.trim_end_matches(is_space).len();
        let first = self.atoms.len();
        self.add_letters(typesetter, text, range.start..letters_end, directions);
        let atoms = first..self.atoms.len();
        if letters_end < range.end {
            let voice = ShapingProperties::for_latin(directions.level_at(letters_end));
            self.add_run(typesetter, &text[letters_end..range.end], self.font, voice);
        }
        let words = || self.atoms[atoms.clone()].iter().map(|atom| &atom.word);
        let advance = words().map(|word| word.advance).sum();
        let overhang = words()
            .map(|word| word.overhang())
            .fold((0.0, 0.0), |most: (f64, f64), one| {
                (most.0.max(one.0), most.1.max(one.1))
            });
        let space = self.atoms[atoms.end..]
            .iter()
            .map(|atom| atom.word.advance)
            .sum();
        self.pieces.push(LineSegment {
            atoms,
            advance,
            space,
            overhang,
            base: directions.base,
            ends_paragraph: false,
        });
    }

    /// Shapes letters by parts of one direction, font and script.
    fn add_letters(
        &mut self,
        typesetter: &mut Typesetter,
        text: &str,
        range: Range<usize>,
        directions: &BidiLevels,
    ) {
        let letters = &text[range.clone()];
        if letters.is_empty() {
            return;
        }
        let is_plain = directions.is_plain() && letters.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain && has_ascii(self.font) {
            return self.add_run(
                typesetter,
                letters,
                self.font,
                ShapingProperties::for_latin(Level::ltr()),
            );
        }
        let mut start = range.start;
        let mut voice: Option<ShapingProperties> = None;
        for (offset, character) in letters.grapheme_indices(true) {
            let at = range.start + offset;
            let own = ShapingProperties {
                level: directions.level_at(at),
                script: script_of(character),
            };
            let known = *voice.get_or_insert(own);
            voice = known.merge(own).or_else(|| {
                self.add_uniform_text(typesetter, &text[start..at], known);
                start = at;
                Some(own)
            });
        }
        if let Some(voice) = voice {
            self.add_uniform_text(typesetter, &text[start..range.end], voice);
        }
    }

    /// Shapes letters of one direction and script with the first font that has all of them: a word in two fonts is
    /// ugly. When there is none, each letter has the first font that has it.
    fn add_uniform_text(
        &mut self,
        typesetter: &mut Typesetter,
        text: &str,
        voice: ShapingProperties,
    ) {
        if let Some(font) = find_font_for_all(self.font, text) {
            return self.add_run(typesetter, text, font, voice);
        }
        let mut begun: Option<(usize, Font)> = None;
        for (at, character) in text.grapheme_indices(true) {
            let font = find_font(self.font, character);
            if font.is_none() {
                self.add_unsupported(character);
            }
            if let Some((start, begun_font)) = begun.filter(|(_, begun)| Some(*begun) != font) {
                self.add_run(typesetter, &text[start..at], begun_font, voice);
                begun = None;
            }
            begun = begun.or(font.map(|font| (at, font)));
        }
        if let Some((start, font)) = begun {
            self.add_run(typesetter, &text[start..], font, voice);
        }
    }

    fn add_run(
        &mut self,
        typesetter: &mut Typesetter,
        text: &str,
        font: Font,
        voice: ShapingProperties,
    ) {
        // Digits and signs by themselves go with the letters around them as a rule, which are Latin.
        let kind = if is_neutral(voice.script) {
            Script::Latin
        } else {
            voice.script
        };
        let word = typesetter.shape_word(font, shaping_script(kind), voice.level.is_rtl(), text);
        if !word.is_complete {
            self.add_unsupported(text);
        }
        self.atoms.push(ShapedRun {
            word,
            level: voice.level,
        });
    }

    fn add_unsupported(&mut self, character: &str) {
        if !self.unsupported.iter().any(|known| known == character) {
            self.unsupported.push(character.to_owned());
        }
    }

    fn measure_overhang(&mut self) {
        let face = super::ShapingFace::for_font(self.font);
        for ink in self.atoms.iter().map(|atom| atom.word.ink) {
            self.overhang.above = self.overhang.above.max(-ink.top - face.ascent);
            self.overhang.below = self.overhang.below.max(ink.bottom - face.descent);
        }
    }
}

/// The directions of a paragraph's characters.
struct BidiLevels {
    base: Level,
    /// By byte; empty when all of it runs from left to right.
    levels: Vec<Level>,
}

impl BidiLevels {
    fn from_text(text: &str) -> Self {
        if text.chars().all(is_left_to_right) {
            return Self {
                base: Level::ltr(),
                levels: Vec::new(),
            };
        }
        let info = ParagraphBidiInfo::new(text, None);
        Self {
            base: info.paragraph_level,
            levels: info.levels,
        }
    }

    fn level_at(&self, byte: usize) -> Level {
        self.levels.get(byte).copied().unwrap_or(self.base)
    }

    fn is_plain(&self) -> bool {
        self.levels.is_empty()
    }
}

/// Whether it can be told without looking closer that nothing runs from right to left: letters up to Armenian,
/// the Latin ones of Vietnamese, and the usual quotation marks, dashes and currency signs.
fn is_left_to_right(character: char) -> bool {
    matches!(character, '\0'..='\u{58f}' | '\u{1e00}'..='\u{1fff}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{20a0}'..='\u{20cf}')
}

/// The text with plain line feeds and spaces, without what is only a hint for hyphenation.
fn normalize_spaces(text: &str) -> Cow<'_, str> {
    let is_rare = |character| {
        matches!(
            character,
            '\t' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{ad}' | '\u{2028}' | '\u{2029}'
        )
    };
    if !text.contains(is_rare) {
        return Cow::Borrowed(text);
    }
    let with_line_feeds = text.replace("\r\n", "\n");
    let plain = with_line_feeds
        .chars()
        .filter(|character| *character != '\u{ad}')
        .map(|character| match character {
            '\t' => ' ',
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
            other => other,
        });
    Cow::Owned(plain.collect())
}

/// Where lines may end, the end of the text included (Unicode Annex 14). In scripts without spaces, between any
/// two letters: where words end only a dictionary knows.
fn line_ends(text: &str) -> Vec<usize> {
    let mut ends: Vec<usize> = linebreaks(text)
        .map(|(end, _)| end)
        .filter(|end| *end > 0)
        .collect();
    if text.chars().any(needs_dictionary) {
        let letters = text.grapheme_indices(true).map(|(start, _)| start);
        ends.extend(letters.filter(|start| is_within_dictionary_word(text, *start)));
        ends.sort_unstable();
        ends.dedup();
    }
    ends
}

/// Whether both characters beside the place are of a script without spaces.
fn is_within_dictionary_word(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    before.chars().next_back().is_some_and(needs_dictionary)
        && after.chars().next().is_some_and(needs_dictionary)
}

fn needs_dictionary(character: char) -> bool {
    // None before Thai, which saves most texts the look into a table.
    character >= '\u{e00}' && break_property(u32::from(character)) == BreakClass::ComplexContext
}

/// A space at which a line may end, and which then does not count.
fn is_space(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\u{a0}' | '\u{2007}' | '\u{202f}')
}

fn has_ascii(font: Font) -> bool {
    !matches!(
        font,
        Font::NotoSansHebrew
            | Font::NotoSansHebrewBold
            | Font::NotoSansArabic
            | Font::NotoSansArabicBold
    )
}

fn is_neutral(script: Script) -> bool {
    matches!(script, Script::Common | Script::Inherited | Script::Unknown)
}

/// The script of what a reader sees as one character.
fn script_of(character: &str) -> Script {
    let mut scripts = character.chars().map(|part| part.script());
    scripts
        .find(|script| !is_neutral(*script))
        .unwrap_or(Script::Common)
}
