//! The places of glyphs, once the size is known.

use crate::geometry::PagePoint;
use crate::page::{Glyph, GlyphRun};
use crate::style::{HorizontalAlignment, VerticalAlignment};
use crate::text::ShapingFace;
use crate::text::analysis::{ShapedRun, TextAnalysis};
use crate::text::arc::{BaselineCurve, CurvePosition, glyph_clusters};
use crate::text::fit::{LineWrapping, TextPlacement};
use crate::text::lines::{break_lines, lines_height};
use crate::text::word::InkBounds;

/// A text that is set.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PlacedText {
    /// Its letters.
    pub(crate) runs: Vec<GlyphRun>,
    /// What it covers, by lines, or by letters along a curve: the corners of rectangles, before the text's area is
    /// turned.
    pub(crate) outline: Vec<[PagePoint; 4]>,
}

impl TextPlacement {
    /// Sets a text at a size.
    pub(crate) fn place_text(&self, analysis: &TextAnalysis, size: f64) -> PlacedText {
        match self
            .arc
            .map(|arc| BaselineCurve::new(self, arc, analysis, size))
        {
            Some(Some(curve)) => self.place_on_curve(&curve, analysis, size),
            Some(None) => PlacedText::default(),
            None => self.place_lines(analysis, size),
        }
    }

    fn place_on_curve(
        &self,
        curve: &BaselineCurve,
        analysis: &TextAnalysis,
        size: f64,
    ) -> PlacedText {
        let atoms = analysis.visual_order(0..analysis.pieces.len());
        let mut placed = PlacedText::default();
        let mut along = 0.0;
        for atom in &atoms {
            for cluster in glyph_clusters(&atom.word) {
                let spot = curve.position_at(along + (cluster.pen + cluster.advance / 2.0) * size);
                let ink = cluster.ink_at_size(size);
                if !ink.is_empty() {
                    placed.outline.push(spot.to_page_corners(ink));
                }
            }
            along += atom.word.advance * size;
        }
        placed.runs = self.build_glyph_runs(&atoms, size, |along, middle| {
            let spot = curve.position_at(along + middle);
            CurvePosition {
                at: spot.to_page_point((-middle, 0.0)),
                rotation: spot.rotation,
            }
        });
        placed
    }

    fn place_lines(&self, analysis: &TextAnalysis, size: f64) -> PlacedText {
        let mut lines = Vec::new();
        break_lines(
            &analysis.pieces,
            self.area.width,
            size,
            LineWrapping::AtSpaces,
            |line| lines.push(line),
        );
        let lines: Vec<Vec<&ShapedRun>> = lines
            .into_iter()
            .map(|line| analysis.visual_order(line))
            .collect();
        let inks: Vec<InkBounds> = lines.iter().map(|line| line_ink(line)).collect();
        let first = self.first_baseline(&inks, size);
        let mut placed = PlacedText::default();
        for (index, (line, ink)) in lines.iter().zip(inks).enumerate() {
            let baseline = first + self.style.line_height * size * index as f64;
            let at = (self.line_start(line, ink, size), baseline);
            if !ink.is_empty() {
                let spot = CurvePosition {
                    at: (0.0, 0.0),
                    rotation: 0.0,
                };
                placed
                    .outline
                    .push(spot.to_page_corners(ink.scale_and_move(size, at)));
            }
            let place = |along: f64, _| CurvePosition {
                at: (at.0 + along, at.1),
                rotation: 0.0,
            };
            placed
                .runs
                .append(&mut self.build_glyph_runs(line, size, place));
        }
        placed
    }

    /// Where the first line stands, so that the text is aligned and no ink leaves the area if it fits.
    fn first_baseline(&self, inks: &[InkBounds], size: f64) -> f64 {
        let slack = self.area.height - lines_height(self, inks.len(), size);
        let before = match self.style.vertical_alignment {
            VerticalAlignment::Top => 0.0,
            VerticalAlignment::Middle => slack / 2.0,
            VerticalAlignment::Bottom => slack,
        };
        let baseline = self.area.y + before + ShapingFace::for_font(self.style.font).ascent * size;
        let ink = inks
            .iter()
            .enumerate()
            .fold(InkBounds::NONE, |all, (index, ink)| {
                all.union(
                    ink.scale_and_move(size, (0.0, self.style.line_height * size * index as f64)),
                )
            });
        let end = self.area.y + self.area.height;
        shift_within(baseline, (ink.top, ink.bottom), (self.area.y, end))
    }

    fn line_start(&self, line: &[&ShapedRun], ink: InkBounds, size: f64) -> f64 {
        let advance: f64 = line.iter().map(|atom| atom.word.advance * size).sum();
        let before = match self.style.alignment {
            HorizontalAlignment::Left => 0.0,
            HorizontalAlignment::Center => (self.area.width - advance) / 2.0,
            HorizontalAlignment::Right => self.area.width - advance,
        };
        let end = self.area.x + self.area.width;
        shift_within(
            self.area.x + before,
            (ink.left * size, ink.right * size),
            (self.area.x, end),
        )
    }

    /// Glyphs of one line by font and direction. `place` gives the place of what is so far along the line, of a
    /// cluster whose middle is so far from there.
    fn build_glyph_runs(
        &self,
        line: &[&ShapedRun],
        size: f64,
        place: impl Fn(f64, f64) -> CurvePosition,
    ) -> Vec<GlyphRun> {
        let mut along = 0.0;
        let together = |left: &&ShapedRun, right: &&ShapedRun| {
            left.word.font == right.word.font && left.level == right.level
        };
        let runs = line.chunk_by(together).filter_map(|atoms| {
            let mut run = GlyphRun {
                font: atoms[0].word.font,
                size,
                colour: self.style.colour,
                text: reading_order(atoms).map(|atom| &*atom.word.text).collect(),
                glyphs: Vec::with_capacity(atoms.iter().map(|atom| atom.word.glyphs.len()).sum()),
            };
            let is_right_to_left = atoms[0].level.is_rtl();
            let mut before = if is_right_to_left { run.text.len() } else { 0 };
            for atom in atoms {
                let length = atom.word.text.len();
                before -= if is_right_to_left { length } else { 0 };
                add_glyphs(&mut run, atom, (before, along), &place);
                before += if is_right_to_left { 0 } else { length };
                along += atom.word.advance * size;
            }
            (!run.glyphs.is_empty()).then_some(run)
        });
        runs.collect()
    }
}

/// Adds the glyphs of a word that begins after so many bytes of the run, and so far along its line.
fn add_glyphs(
    run: &mut GlyphRun,
    atom: &ShapedRun,
    (bytes, along): (usize, f64),
    place: impl Fn(f64, f64) -> CurvePosition,
) {
    let size = run.size;
    for cluster in glyph_clusters(&atom.word) {
        let spot = place(along + cluster.pen * size, cluster.advance / 2.0 * size);
        for glyph in cluster.glyphs {
            let right = (glyph.pen - cluster.pen + glyph.offset.0) * size;
            let (x, y) = spot.to_page_point((right, glyph.offset.1 * size));
            run.glyphs.push(Glyph {
                id: glyph.id,
                x,
                y,
                rotation: spot.rotation,
                advance: glyph.advance * size,
                characters: bytes + glyph.characters.start as usize
                    ..bytes + glyph.characters.end as usize,
            });
        }
    }
}

/// Atoms that stand side by side in one direction, as they are read.
fn reading_order<'a>(atoms: &'a [&'a ShapedRun]) -> Box<dyn Iterator<Item = &'a ShapedRun> + 'a> {
    match atoms.first().is_some_and(|atom| atom.level.is_rtl()) {
        true => Box::new(atoms.iter().rev().copied()),
        false => Box::new(atoms.iter().copied()),
    }
}

/// The ink of a line, from its beginning. Ems.
fn line_ink(line: &[&ShapedRun]) -> InkBounds {
    let mut along = 0.0;
    line.iter().fold(InkBounds::NONE, |ink, atom| {
        let own = atom.word.ink.scale_and_move(1.0, (along, 0.0));
        along += atom.word.advance;
        ink.union(own)
    })
}

/// A place moved as little as it takes for what reaches from it to lie between two bounds; if it is too large, the
/// beginning does.
fn shift_within(place: f64, (least, most): (f64, f64), (start, end): (f64, f64)) -> f64 {
    if least > most {
        return place;
    }
    place.min(end - most).max(start - least)
}
