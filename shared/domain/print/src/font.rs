//! Fonts in the file: of each, the glyphs that were drawn.

use std::io::{self, Write};

use design::{Font, GlyphRun};
use flate2::Compression;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Name, Rect, Ref, Str};
use subsetter::GlyphRemapper;

use crate::face::PdfFace;
use crate::file::{ObjectFile, deflate_bytes};

/// Codes are glyph numbers of the whole font, so that pages can be written before the subset is known.
const ENCODING: Name<'static> = Name(b"Identity-H");
const SYSTEM: SystemInfo<'static> = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};

/// Letters before the name of a subset, which tell it from others.
const TAG_LETTERS: usize = 6;

/// What was drawn so far.
#[derive(Default)]
pub(crate) struct DrawnFonts {
    /// By font, then by glyph: the characters that the glyph stood for when it was first drawn.
    texts: [Vec<Option<Box<str>>>; Font::ALL.len()],
}

impl DrawnFonts {
    /// Notes what is drawn.
    pub(crate) fn record_runs(&mut self, runs: &[GlyphRun]) {
        for run in runs {
            let texts = &mut self.texts[run.font as usize];
            if texts.is_empty() {
                texts.resize(PdfFace::for_font(run.font).glyph_count(), None);
            }
            for (index, glyph) in run.glyphs.iter().enumerate() {
                let Some(slot @ None) = texts.get_mut(usize::from(glyph.id)) else {
                    continue;
                };
                // All glyphs of a cluster have its text; the first one stands for it.
                let is_first = index == 0 || run.glyphs[index - 1].characters != glyph.characters;
                let text = if is_first {
                    run.text.get(glyph.characters.clone())
                } else {
                    None
                };
                *slot = Some(text.unwrap_or_default().into());
            }
        }
    }

    /// Writes the fonts that were drawn with, each with the name under which text names it.
    pub(crate) fn write_fonts<W: Write>(
        self,
        file: &mut ObjectFile<W>,
    ) -> io::Result<Vec<(Font, Ref)>> {
        let mut written = Vec::new();
        for (font, texts) in Font::ALL.iter().zip(self.texts) {
            let glyphs = texts.into_iter().enumerate();
            let used: Vec<DrawnGlyph> = glyphs
                .filter_map(|(glyph, text)| DrawnGlyph::new(glyph, text?))
                .collect();
            if !used.is_empty() {
                written.push((*font, write_font(file, *font, &used)?));
            }
        }
        Ok(written)
    }
}

/// A glyph that was drawn.
struct DrawnGlyph {
    glyph: u16,
    text: Box<str>,
}

impl DrawnGlyph {
    fn new(glyph: usize, text: Box<str>) -> Option<Self> {
        Some(Self {
            glyph: u16::try_from(glyph).ok()?,
            text,
        })
    }
}

fn write_font<W: Write>(
    file: &mut ObjectFile<W>,
    font: Font,
    used: &[DrawnGlyph],
) -> io::Result<Ref> {
    let glyphs: Vec<u16> = used.iter().map(|used| used.glyph).collect();
    let subset = GlyphRemapper::new_from_glyphs_sorted(&glyphs);
    let program = subsetter::subset(font.bytes(), 0, &subset)
        .map_err(|error| io::Error::other(format!("{}: {error}", font.name())))?;
    let name = subset_name(font, &glyphs);
    let program = add_stream(file, &program)?;
    let map = add_stream(file, &code_map(&glyphs, &subset))?;
    let unicode = add_stream(file, &unicode_map(used))?;
    let descriptor = write_descriptor(file, font, &name, program)?;
    let descendant = write_descendant(file, font, &name, &glyphs, descriptor, map)?;
    file.add_object(|chunk, object| {
        let mut whole = chunk.type0_font(object);
        whole
            .base_font(Name(name.as_bytes()))
            .encoding_predefined(ENCODING);
        whole.descendant_font(descendant).to_unicode(unicode);
    })
}

fn write_descriptor<W: Write>(
    file: &mut ObjectFile<W>,
    font: Font,
    name: &str,
    program: Ref,
) -> io::Result<Ref> {
    let face = PdfFace::for_font(font);
    let mut flags = FontFlags::SYMBOLIC;
    flags.set(FontFlags::ITALIC, face.italic_angle != 0.0);
    let [left, lower, right, upper] = face.bounds;
    file.add_object(|chunk, object| {
        let mut descriptor = chunk.font_descriptor(object);
        descriptor
            .name(Name(name.as_bytes()))
            .flags(flags)
            .bbox(Rect::new(left, lower, right, upper));
        descriptor
            .italic_angle(face.italic_angle)
            .ascent(face.ascent)
            .descent(face.descent);
        descriptor
            .cap_height(face.cap_height)
            .stem_v(stem_width(font))
            .font_file2(program);
    })
}

/// Width of upright stems, which fonts do not say: only a viewer without the font would use it.
fn stem_width(font: Font) -> f32 {
    if font.name().ends_with("Bold") {
        140.0
    } else {
        80.0
    }
}

fn write_descendant<W: Write>(
    file: &mut ObjectFile<W>,
    font: Font,
    name: &str,
    glyphs: &[u16],
    descriptor: Ref,
    map: Ref,
) -> io::Result<Ref> {
    let face = PdfFace::for_font(font);
    file.add_object(|chunk, object| {
        let mut descendant = chunk.cid_font(object);
        descendant
            .subtype(CidFontType::Type2)
            .base_font(Name(name.as_bytes()))
            .system_info(SYSTEM);
        descendant
            .font_descriptor(descriptor)
            .cid_to_gid_map_stream(map);
        let mut widths = descendant.widths();
        for following in glyphs.chunk_by(|left, right| left + 1 == *right) {
            widths.consecutive(
                following[0],
                following.iter().map(|glyph| face.glyph_advance(*glyph)),
            );
        }
    })
}

fn add_stream<W: Write>(file: &mut ObjectFile<W>, bytes: &[u8]) -> io::Result<Ref> {
    let packed = deflate_bytes(bytes, Compression::best());
    file.add_object(|chunk, object| {
        chunk.stream(object, &packed).filter(Filter::FlateDecode);
    })
}

/// The glyph in the subset of each code up to the last one, two bytes each.
fn code_map(glyphs: &[u16], subset: &GlyphRemapper) -> Vec<u8> {
    let last = glyphs.last().copied().unwrap_or(0);
    (0..=last)
        .flat_map(|code| subset.get(code).unwrap_or(0).to_be_bytes())
        .collect()
}

fn unicode_map(used: &[DrawnGlyph]) -> Vec<u8> {
    let mut map = UnicodeCmap::new(Name(b"Characters"), SYSTEM);
    for DrawnGlyph { glyph, text } in used.iter().filter(|used| !used.text.is_empty()) {
        map.pair_with_multiple(*glyph, text.chars());
    }
    map.finish().into_vec()
}

/// `ABCDEF+InterBold`: the letters follow from the glyphs.
fn subset_name(font: Font, glyphs: &[u16]) -> String {
    let bytes: Vec<u8> = glyphs
        .iter()
        .flat_map(|glyph| glyph.to_be_bytes())
        .collect();
    let digest = blake3::hash(&bytes);
    let tag: String = digest
        .as_bytes()
        .iter()
        .take(TAG_LETTERS)
        .map(|byte| char::from(b'A' + byte % 26))
        .collect();
    format!("{tag}+{}", font.name().replace(' ', ""))
}
