//! Lines of text that are not a design's, such as those of an address.

use unicode_segmentation::UnicodeSegmentation;

use crate::font::Font;
use crate::geometry::PageRect;
use crate::limits::LINE_CHARS;
use crate::page::GlyphRun;
use crate::text::analysis::TextAnalysis;
use crate::text::fit::{FittedSize, LineWrapping, TextPlacement};
use crate::text::lines;
use crate::text::typesetter::{BlockStyle, Typesetter};

/// Lines that are set.
#[derive(Debug, Clone, PartialEq)]
pub struct TextBlock {
    /// The letters, in points from the origin of the area's coordinates.
    pub runs: Vec<GlyphRun>,
    /// Points of the size that was chosen.
    pub size: f64,
    /// Whether everything lies in the area at the smallest size at least. Lines that do not are cut off.
    pub fits: bool,
    /// Characters that no font prints, each once. They are left out.
    pub unsupported: Vec<String>,
}

impl Typesetter {
    /// Sets lines of text that are not the design's, such as an address, into an area: one below the other,
    /// without breaking any while they fit at a size down to the smallest. White space of all kinds is one space: a line
    /// never becomes two by what stands in it.
    pub fn set_block<L: AsRef<str>>(
        &mut self,
        lines: &[L],
        style: &BlockStyle,
        area: PageRect,
    ) -> TextBlock {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| collapse_spaces(line.as_ref()))
            .collect();
        let setting = TextPlacement::from_style(style, area);
        let analysis = TextAnalysis::new(self, &lines.join("\n"), style.font);
        let fit = [LineWrapping::Never, LineWrapping::AtSpaces]
            .into_iter()
            .find_map(|wrapping| match setting.find_size(&analysis, wrapping) {
                FittedSize::At(size) => Some(size),
                FittedSize::BelowSmallest(_) | FittedSize::Nowhere => None,
            });
        if let Some(size) = fit {
            let runs = setting.place_text(&analysis, size).runs;
            return TextBlock {
                runs,
                size,
                fits: true,
                unsupported: analysis.unsupported,
            };
        }
        let size = style.smallest_size;
        let cut: Vec<String> = lines
            .iter()
            .map(|line| self.fit_line(line, style.font, area.width / size))
            .collect();
        let runs = setting
            .place_text(&TextAnalysis::new(self, &cut.join("\n"), style.font), size)
            .runs;
        TextBlock {
            runs,
            size,
            fits: false,
            unsupported: analysis.unsupported,
        }
    }

    /// A text as one line that is no wider than `width`, in ems: without characters that no font prints, with single
    /// spaces, and cut off after the last whole word that fits, or in the first one if that is too wide.
    pub fn fit_line(&mut self, text: &str, font: Font, width: f64) -> String {
        let most = text
            .char_indices()
            .nth(LINE_CHARS)
            .map_or(text.len(), |(end, _)| end);
        let line = self.strip_unprintable(collapse_spaces(&text[..most]), font);
        let ends: Vec<usize> = line
            .grapheme_indices(true)
            .map(|(at, _)| at)
            .skip(1)
            .chain([line.len()])
            .collect();
        let mut fits = |end: usize| {
            let pieces = TextAnalysis::new_single_line(self, &line[..end], font).pieces;
            lines::break_lines(&pieces, width, 1.0, LineWrapping::Never, |_| {})
        };
        if line.is_empty() || fits(line.len()) {
            return line;
        }
        let fitting = ends.partition_point(|end| fits(*end));
        let end = fitting.checked_sub(1).map_or(0, |last| ends[last]);
        let whole = line[..end]
            .rfind(' ')
            .filter(|_| !line[end..].starts_with(' '))
            .unwrap_or(end);
        line[..whole].to_owned()
    }

    /// A line without characters that no font prints.
    fn strip_unprintable(&mut self, mut line: String, font: Font) -> String {
        loop {
            // Letters that a character stood between may make another one that no font prints.
            let length = line.len();
            for unsupported in TextAnalysis::new_single_line(self, &line, font).unsupported {
                line = line.replace(&unsupported, "");
            }
            line = collapse_spaces(&line);
            if line.len() == length {
                return line;
            }
        }
    }
}

fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
