use proptest::prelude::*;

use super::analysis::TextAnalysis;
use super::fit::{FittedSize, LineWrapping, TextPlacement};
use super::typesetter::{BlockStyle, Typesetter, shaping_script};
use super::word::{InkBounds, ShapedWord};
use super::{ShapingFace, arc, lines};
use crate::element::{ArcBend, TextArc};
use crate::font::Font;
use crate::geometry::PageRect;
use crate::page::{Glyph, GlyphRun};
use crate::style::{Colour, HorizontalAlignment, VerticalAlignment};

const STYLE: BlockStyle = BlockStyle {
    font: Font::Inter,
    size: 12.0,
    smallest_size: 12.0,
    line_height: 1.2,
    alignment: HorizontalAlignment::Left,
    vertical_alignment: VerticalAlignment::Top,
    colour: Colour::BLACK,
};

const AREA: PageRect = PageRect::new(10.0, 20.0, 200.0, 100.0);

fn set_text(style: BlockStyle, text: &str) -> Vec<GlyphRun> {
    let lines: Vec<&str> = text.split('\n').collect();
    let block = Typesetter::new().set_block(&lines, &style, AREA);
    assert!(block.fits, "{text}");
    block.runs
}

fn analyse_text(font: Font, text: &str) -> TextAnalysis {
    TextAnalysis::new(&mut Typesetter::new(), text, font)
}

fn find_unsupported(text: &str) -> Vec<String> {
    analyse_text(Font::Inter, text).unsupported
}

/// The ink of a glyph where it is placed, told by the font itself.
fn glyph_corners(run: &GlyphRun, glyph: &Glyph) -> Option<[(f64, f64); 4]> {
    let face = ShapingFace::for_font(run.font);
    let shaper = harfrust::ShaperFont::new(&face.shaping);
    let extents = shaper.glyph_extents(harfrust::GlyphId::new(glyph.id.into()))?;
    let left = face.units_to_ems(extents.x_bearing) * run.size;
    let top = -face.units_to_ems(extents.y_bearing) * run.size;
    let right = left + face.units_to_ems(extents.width) * run.size;
    let bottom = top - face.units_to_ems(extents.height) * run.size;
    let (sine, cosine) = glyph.rotation.to_radians().sin_cos();
    (right > left).then(|| {
        [(left, top), (right, top), (right, bottom), (left, bottom)].map(|(along, down)| {
            (
                glyph.x + along * cosine - down * sine,
                glyph.y + along * sine + down * cosine,
            )
        })
    })
}

fn is_inside(runs: &[GlyphRun], area: PageRect) -> bool {
    let area = area.expand(0.001);
    let mut corners = runs
        .iter()
        .flat_map(|run| {
            run.glyphs
                .iter()
                .filter_map(|glyph| glyph_corners(run, glyph))
        })
        .flatten();
    corners.all(|corner| area.contains(corner))
}

#[test]
fn every_font_ships_with_the_letters_that_it_is_documented_for() {
    for font in Font::ALL {
        let letters = match font.name().split(' ').nth(2) {
            Some("Hebrew") => "אבגדה",
            Some("Arabic") => "ابتثج",
            _ => "Ångström, Łódź, Œuvre; Привет 0123456789 – “quoted” €",
        };
        let analysis = analyse_text(*font, letters);
        assert!(analysis.unsupported.is_empty(), "{}", font.name());
        assert!(
            analysis.atoms.iter().all(|atom| atom.word.font == *font),
            "{} {analysis:?}",
            font.name()
        );
    }
}

#[test]
fn a_character_that_the_font_lacks_is_set_in_a_fallback_of_the_same_weight() {
    let fonts = |font, text| -> Vec<Font> {
        analyse_text(font, text)
            .atoms
            .iter()
            .map(|atom| atom.word.font)
            .collect()
    };
    assert_eq!(fonts(Font::LoraBold, "שלום"), [Font::NotoSansHebrewBold]);
    assert_eq!(fonts(Font::Caveat, "سلام"), [Font::NotoSansArabic]);
    assert_eq!(fonts(Font::Montserrat, "Ελλάδα"), [Font::DejaVuSans]);
    assert_eq!(fonts(Font::Inter, "Ελλάδα"), [Font::Inter]);
}

#[test]
fn what_no_font_prints_is_found() {
    assert_eq!(find_unsupported("Hi 🎉 and 日本 🎉"), ["🎉", "日", "本"]);
    assert_eq!(find_unsupported("नमस्ते")[0], "न");
    // One picture to the reader, several characters to the computer.
    assert_eq!(find_unsupported("a👩‍👩‍👧b"), ["👩‍👩‍👧"]);
    assert_eq!(find_unsupported("🇺🇸 1️⃣ ❤️"), ["🇺🇸", "1️⃣", "❤️"]);
    assert_eq!(
        find_unsupported("\u{7}\u{e000}\u{fffc}\u{fffd}\u{378}"),
        ["\u{7}", "\u{e000}", "\u{fffc}", "\u{fffd}", "\u{378}"]
    );
}

#[test]
fn invisible_characters_and_plain_symbols_are_no_emoji() {
    let text = "a\u{200d}b\u{feff}c\u{200f}d\u{2060}e © ™ ❤ ☎\u{fe0e} ½ № →";
    assert_eq!(find_unsupported(text), Vec::<String>::new());
}

#[test]
fn an_accent_apart_prints_like_the_composed_letter() {
    let (apart, composed) = (
        set_text(STYLE, "Jose\u{301} n\u{303}"),
        set_text(STYLE, "José ñ"),
    );
    let ids =
        |runs: &[GlyphRun]| -> Vec<u16> { runs[0].glyphs.iter().map(|glyph| glyph.id).collect() };
    assert_eq!(ids(&apart), ids(&composed));
    // Which letter a glyph stands for is told in bytes of the text.
    assert_eq!(
        &apart[0].text[apart[0].glyphs[3].characters.clone()],
        "e\u{301}"
    );
}

#[test]
fn an_accent_without_a_composed_letter_stands_over_its_own() {
    let runs = set_text(
        BlockStyle {
            font: Font::DejaVuSans,
            ..STYLE
        },
        "x\u{302}",
    );
    let [letter, accent] = &runs[0].glyphs[..] else {
        panic!("{runs:?}")
    };
    let (letter, accent) = (
        glyph_corners(&runs[0], letter).unwrap(),
        glyph_corners(&runs[0], accent).unwrap(),
    );
    assert!(accent[2].1 <= letter[0].1, "above");
    assert!(
        accent[0].0 >= letter[0].0 - 1.0 && accent[1].0 <= letter[1].0 + 1.0,
        "not beside"
    );
}

#[test]
fn arabic_letters_join_and_run_from_right_to_left() {
    let style = BlockStyle {
        font: Font::NotoSansArabic,
        ..STYLE
    };
    let word = &set_text(style, "سلام")[0];
    let ids = |text: &str| -> Vec<u16> {
        set_text(style, text)[0]
            .glyphs
            .iter()
            .map(|glyph| glyph.id)
            .collect()
    };
    assert_ne!(
        ids("س"),
        vec![word.glyphs.last().unwrap().id],
        "the first letter has its joined form"
    );
    let starts: Vec<usize> = word
        .glyphs
        .iter()
        .map(|glyph| glyph.characters.start)
        .collect();
    assert!(
        starts.is_sorted_by(|left, right| left >= right),
        "{starts:?}"
    );
    assert_eq!(starts.last(), Some(&0));
}

#[test]
fn handwriting_varies_the_letters_of_a_word() {
    let glyphs = &set_text(
        BlockStyle {
            font: Font::Caveat,
            ..STYLE
        },
        "banana",
    )[0]
    .glyphs;
    assert_ne!(glyphs[1].id, glyphs[3].id);
}

#[test]
fn numbers_within_hebrew_keep_their_direction() {
    let runs = set_text(STYLE, "רחוב 123 שלום");
    let texts: Vec<&str> = runs
        .iter()
        .map(|run| run.text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    assert_eq!(texts, ["שלום", "123", "רחוב"]);
    let places: Vec<f64> = runs
        .iter()
        .flat_map(|run| &run.glyphs)
        .map(|glyph| glyph.x)
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_run_of_several_words_says_them_as_they_are_read() {
    let runs = set_text(STYLE, "שלום עולם");
    assert_eq!(
        runs.iter()
            .filter(|run| run.font == Font::NotoSansHebrew)
            .map(|run| run.text.as_str())
            .collect::<Vec<_>>(),
        ["עולם", "שלום"]
    );
    assert_eq!(set_text(STYLE, "Dear Ann,")[0].text, "Dear Ann,");
    for run in runs {
        for glyph in &run.glyphs {
            assert!(
                run.text
                    .get(glyph.characters.clone())
                    .is_some_and(|text| !text.is_empty()),
                "{run:?}"
            );
        }
    }
}

#[test]
fn lines_end_at_spaces_and_hyphens_and_where_the_text_says() {
    let lines = |text: &str| -> Vec<String> {
        let style = BlockStyle {
            smallest_size: 12.0,
            ..STYLE
        };
        let setting = TextPlacement::from_style(&style, PageRect::new(0.0, 0.0, 60.0, 100.0));
        let placed = setting.place_text(
            &setting.analyse_text(&mut Typesetter::new(), text),
            style.size,
        );
        placed.runs.iter().map(|run| run.text.clone()).collect()
    };
    assert_eq!(lines("one two three four"), ["one two", "three four"]);
    assert_eq!(lines("long-winded text"), ["long-", "winded", "text"]);
    assert_eq!(lines("a\r\nb\u{2028}c\td"), ["a", "b", "c d"]);
    // A space that keeps words together.
    assert_eq!(lines("aaaaa bbb\u{a0}ccc"), ["aaaaa", "bbb\u{a0}ccc"]);
}

#[test]
fn an_empty_line_takes_its_room() {
    let runs = set_text(STYLE, "a\n\nb");
    assert!((runs[1].glyphs[0].y - runs[0].glyphs[0].y - 2.0 * 12.0 * 1.2).abs() < 1e-9);
}

#[test]
fn alignment_says_where_lines_and_text_stand() {
    let place = |alignment, vertical_alignment| {
        let run = &set_text(
            BlockStyle {
                alignment,
                vertical_alignment,
                ..STYLE
            },
            "mm",
        )[0];
        let width: f64 = run.glyphs.iter().map(|glyph| glyph.advance).sum();
        (run.glyphs[0].x, run.glyphs[0].x + width, run.glyphs[0].y)
    };
    let line = ShapingFace::for_font(Font::Inter);
    let (left, _, top) = place(HorizontalAlignment::Left, VerticalAlignment::Top);
    assert!((left - 10.0).abs() < 1e-9 && (top - (20.0 + line.ascent * 12.0)).abs() < 1e-9);
    let (from, to, middle) = place(HorizontalAlignment::Center, VerticalAlignment::Middle);
    assert!((from - 10.0 - (210.0 - to)).abs() < 1e-9);
    assert!((middle - (70.0 + (line.ascent - line.descent) * 6.0)).abs() < 1e-9);
    let (_, right, bottom) = place(HorizontalAlignment::Right, VerticalAlignment::Bottom);
    assert!((right - 210.0).abs() < 1e-9 && (bottom - (120.0 - line.descent * 12.0)).abs() < 1e-9);
}

#[test]
fn the_size_is_the_largest_that_fits_half_a_point_apart() {
    let style = BlockStyle {
        size: 40.0,
        smallest_size: 6.2,
        ..STYLE
    };
    let setting = TextPlacement::from_style(&style, AREA);
    let text = analyse_text(
        Font::Inter,
        "The quick brown fox jumps over the lazy dog, and again.",
    );
    let FittedSize::At(size) = setting.find_size(&text, LineWrapping::AtSpaces) else {
        panic!("it fits")
    };
    assert!(
        (size * 2.0).fract() == 0.0 && size > 6.2 && size < 40.0,
        "{size}"
    );
    assert!(lines::fits_lines(
        &setting,
        &text,
        size,
        LineWrapping::AtSpaces
    ));
    assert!(!lines::fits_lines(
        &setting,
        &text,
        size + 0.5,
        LineWrapping::AtSpaces
    ));
    let long = analyse_text(Font::Inter, &"word ".repeat(280));
    assert!(!lines::fits_lines(
        &setting,
        &long,
        6.5,
        LineWrapping::AtSpaces
    ));
    assert_eq!(
        setting.find_size(&long, LineWrapping::AtSpaces),
        FittedSize::Nowhere
    );
}

#[test]
fn lines_of_a_block_break_only_when_no_size_keeps_them_whole() {
    let style = BlockStyle {
        size: 12.0,
        smallest_size: 8.0,
        ..STYLE
    };
    let mut typesetter = Typesetter::new();
    let whole = typesetter.set_block(
        &["Ann Example", "1200 Barton Springs Road Apartment 12"],
        &style,
        AREA,
    );
    assert!(
        whole.fits && whole.size < 12.0 && whole.size >= 8.0,
        "{}",
        whole.size
    );
    assert_eq!(whole.runs.len(), 2);
    let broken = typesetter.set_block(&["Ann Example", &"Barton Springs ".repeat(5)], &style, AREA);
    assert!(broken.fits && broken.runs.len() > 2);
    let never = typesetter.set_block(&["A", &"m".repeat(80)], &style, AREA);
    assert!(!never.fits && never.runs.len() == 2);
    let right = never
        .runs
        .iter()
        .flat_map(|run| &run.glyphs)
        .map(|glyph| glyph.x)
        .fold(0.0, f64::max);
    assert!(
        right < AREA.x + AREA.width,
        "what is too long is cut off: {right}"
    );
    let dropped = typesetter.set_block(&["Zoë 🎉"], &style, AREA);
    assert!(
        dropped.fits && dropped.unsupported == ["🎉"] && dropped.runs[0].text.starts_with("Zoë")
    );
}

#[test]
fn a_line_of_a_block_stays_one_whatever_stands_in_it() {
    let mut typesetter = Typesetter::new();
    let plain = typesetter.set_block(&["Ann Example", "Austin"], &STYLE, AREA);
    for feed in [
        "\n", "\r\n", "\u{b}", "\u{85}", "\u{2028}", "\u{2029}", " \t ",
    ] {
        let same = typesetter.set_block(
            &[format!("Ann{feed}Example"), "Austin".to_owned()],
            &STYLE,
            AREA,
        );
        assert_eq!(same, plain, "{feed:?}");
    }
}

proptest! {
    #[test]
    fn a_line_is_no_wider_than_asked(text in "\\PC{0,60}|[a-zA-Z ]{0,200}", width in 1.0_f64..40.0) {
        let mut typesetter = Typesetter::new();
        let line = typesetter.fit_line(&text, Font::DejaVuSans, width);
        let set = typesetter.set_block(&[&line], &BlockStyle { font: Font::DejaVuSans, size: 10.0, smallest_size: 10.0, ..STYLE },
            PageRect::new(0.0, 0.0, width * 10.0 + 1e-3, 1000.0));
        prop_assert!(set.fits && set.unsupported.is_empty(), "{:?} of {:?}", line, text);
        prop_assert!(!line.contains('\n'));
    }
}

#[test]
fn letters_stand_upright_on_their_curve() {
    for (bend, upper_end) in [(ArcBend::Up, false), (ArcBend::Down, true)] {
        let style = BlockStyle {
            size: 10.0,
            smallest_size: 10.0,
            alignment: HorizontalAlignment::Center,
            ..STYLE
        };
        let setting = TextPlacement {
            style,
            area: AREA,
            arc: Some(TextArc {
                bend,
                radius: 150.0,
            }),
        };
        let text = analyse_text(Font::Inter, "round and round");
        assert_eq!(
            setting.find_size(&text, LineWrapping::AtSpaces),
            FittedSize::At(10.0)
        );
        let runs = setting.place_text(&text, 10.0).runs;
        let glyphs: Vec<&Glyph> = runs.iter().flat_map(|run| &run.glyphs).collect();
        let (first, middle, last) = (
            glyphs[0],
            glyphs[glyphs.len() / 2],
            glyphs[glyphs.len() - 1],
        );
        assert_eq!(first.y < middle.y, upper_end, "{bend:?}");
        assert_eq!(first.rotation > 0.0, upper_end, "{bend:?}");
        assert!((first.rotation + last.rotation).abs() < 6.0 && (first.y - last.y).abs() < 3.0);
        assert!(is_inside(&runs, AREA));
    }
}

#[test]
fn a_text_too_long_for_its_curve_is_made_to_fit_it() {
    let style = BlockStyle {
        size: 20.0,
        smallest_size: 18.0,
        ..STYLE
    };
    let setting = TextPlacement {
        style,
        area: AREA,
        arc: Some(TextArc {
            bend: ArcBend::Up,
            radius: 110.0,
        }),
    };
    let text = analyse_text(
        Font::Inter,
        "much too long for a curve of this length at this size",
    );
    let FittedSize::BelowSmallest(size) = setting.find_size(&text, LineWrapping::AtSpaces) else {
        panic!("it is too long")
    };
    assert!(size < 18.0 && size > 5.0, "{size}");
    assert!(is_inside(&setting.place_text(&text, size).runs, AREA));
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Za-z ,.'-]{0,60}",
        2 => "\\PC{0,40}",
        2 => "[אבגדהוזחט0-9 ().-]{0,30}",
        2 => "[ابتثجحخد\u{64b}-\u{652}0-9 .]{0,30}",
        1 => "[a-zé\u{300}-\u{36f}\u{483}-\u{487} ]{0,30}",
        1 => "[ກ-ຮະ-ູ ]{0,30}",
        1 => "[🎉-🎊👩\u{200d}\u{fe0f}\u{20e3}0-9a\n\r\t\u{ad}\u{202a}-\u{202e}\u{2066}-\u{2069}]{0,20}",
        1 => prop::collection::vec(any::<char>(), 0..30).prop_map(String::from_iter),
    ]
}

fn any_setting() -> impl Strategy<Value = TextPlacement> {
    let alignment = prop_oneof![
        Just(HorizontalAlignment::Left),
        Just(HorizontalAlignment::Center),
        Just(HorizontalAlignment::Right)
    ];
    let vertical = prop_oneof![
        Just(VerticalAlignment::Top),
        Just(VerticalAlignment::Middle),
        Just(VerticalAlignment::Bottom)
    ];
    let arc = prop::option::of((
        prop_oneof![Just(ArcBend::Up), Just(ArcBend::Down)],
        0.5..3.0f64,
    ));
    let sizes = (4.0..60.0f64, 0.1..1.0f64);
    let area = (
        -9.0..100.0f64,
        -9.0..100.0f64,
        20.0..400.0f64,
        10.0..200.0f64,
    );
    (
        prop::sample::select(Font::ALL),
        sizes,
        0.5..2.0f64,
        alignment,
        vertical,
        area,
        arc,
    )
        .prop_map(
            |(
                font,
                (size, part),
                line_height,
                alignment,
                vertical_alignment,
                (x, y, width, height),
                arc,
            )| {
                let smallest_size = (size * part).max(4.0).min(size);
                let arc = arc.map(|(bend, part)| TextArc {
                    bend,
                    radius: width * part,
                });
                // As the check of a document demands.
                let line = ShapingFace::for_font(font).line_height() * smallest_size;
                let arc =
                    arc.filter(|arc| arc.sagitta(width) + line <= height && arc.radius > line);
                let colour = Colour::BLACK;
                let style = BlockStyle {
                    font,
                    size,
                    smallest_size,
                    line_height,
                    alignment,
                    vertical_alignment,
                    colour,
                };
                TextPlacement {
                    style,
                    area: PageRect::new(x, y, width, height),
                    arc,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn text_that_is_said_to_fit_lies_inside_its_box(text in any_text(), setting in any_setting()) {
        let analysis = setting.analyse_text(&mut Typesetter::new(), &text);
        let size = match setting.find_size(&analysis, LineWrapping::AtSpaces) {
            FittedSize::At(size) => {
                prop_assert!(size <= setting.style.size && size >= setting.style.smallest_size);
                size
            }
            FittedSize::BelowSmallest(size) => {
                prop_assert!(size < setting.style.smallest_size && setting.arc.is_some());
                size
            }
            FittedSize::Nowhere => {
                // It can be placed all the same.
                setting.place_text(&analysis, setting.style.smallest_size);
                return Ok(());
            }
        };
        let runs = setting.place_text(&analysis, size).runs;
        prop_assert!(is_inside(&runs, setting.area), "{:?}", runs);
        for run in &runs {
            for glyph in &run.glyphs {
                prop_assert!(glyph.id != 0 && run.text.get(glyph.characters.clone()).is_some(), "{:?}", run);
            }
        }
    }

    #[test]
    fn what_fits_at_a_size_fits_at_each_smaller_one(text in any_text(), setting in any_setting()) {
        let analysis = setting.analyse_text(&mut Typesetter::new(), &text);
        let fits = |size: f64| match setting.arc {
            Some(arc) => arc::fits_arc(&setting, arc, &analysis, size),
            None => lines::fits_lines(&setting, &analysis, size, LineWrapping::AtSpaces),
        };
        let sizes: Vec<bool> = (8..160).map(|halves| fits(f64::from(halves) / 2.0)).collect();
        prop_assert!(sizes.is_sorted_by(|smaller, larger| smaller >= larger), "{:?}", sizes);
    }

    #[test]
    fn what_was_set_before_changes_nothing(texts in prop::collection::vec(any_text(), 1..4), setting in any_setting()) {
        let mut typesetter = Typesetter::new();
        for text in &texts {
            let used = setting.analyse_text(&mut typesetter, text);
            let fresh = setting.analyse_text(&mut Typesetter::new(), text);
            prop_assert_eq!(setting.find_size(&used, LineWrapping::AtSpaces), setting.find_size(&fresh, LineWrapping::AtSpaces));
            prop_assert_eq!(setting.place_text(&used, 8.0), setting.place_text(&fresh, 8.0));
        }
    }

    #[test]
    fn every_character_is_printed_or_refused(text in any_text()) {
        let analysis = analyse_text(Font::Inter, &text);
        if analysis.unsupported.is_empty() {
            let spoken: String = analysis.atoms.iter().map(|atom| &*atom.word.text).collect();
            let expected: String = text
                .replace("\r\n", "\n")
                .chars()
                .filter(|character| !matches!(character, '\u{ad}' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'))
                .map(|character| if character == '\t' { ' ' } else { character })
                .collect();
            prop_assert_eq!(spoken, expected);
        }
    }

    #[test]
    fn words_one_by_one_have_the_letters_of_a_whole_line(text in "[A-Za-wy-zÀ-ÖØ-öø-ÿ0-9]{1,9}[,.]?( [A-Za-wy-zÀ-ÖØ-öø-ÿ0-9]{1,9}[,.]?){0,4}", font in prop::sample::select(Font::ALL)) {
        let mut typesetter = Typesetter::new();
        let apart = TextAnalysis::new(&mut typesetter, &text, font);
        // Handwriting has several forms of a letter, so that neighbours differ: within a word, with us. Inter moves
        // brackets and dashes up for a capital, even one beyond a space, and makes an `x` between digits a times sign.
        let is_handwriting = matches!(font, Font::Caveat | Font::CaveatBold);
        prop_assume!(!is_handwriting && apart.atoms.iter().all(|atom| atom.word.font == font));
        let whole = typesetter.shape_word(font, shaping_script(unicode_script::Script::Latin), false, &text);
        let ids = |word: &ShapedWord| -> Vec<u16> { word.glyphs.iter().map(|glyph| glyph.id).collect() };
        let apart_ids: Vec<u16> = apart.atoms.iter().flat_map(|atom| ids(&atom.word)).collect();
        prop_assert_eq!(apart_ids, ids(&whole));
        // Some fonts set a space beside certain letters a little narrower or wider.
        let apart_advance: f64 = apart.atoms.iter().map(|atom| atom.word.advance).sum();
        let breaks = apart.pieces.len() as f64 - 1.0;
        prop_assert!((apart_advance - whole.advance).abs() <= 0.1 * breaks + 1e-9, "{} {}", apart_advance, whole.advance);
    }

    #[test]
    fn ink_of_a_word_is_that_of_its_glyphs(text in "[A-Za-zéÅ]{1,12}", font in prop::sample::select(Font::ALL)) {
        let analysis = analyse_text(font, &text);
        for atom in &analysis.atoms {
            let ink = atom.word.glyphs.iter().fold(InkBounds::NONE, |ink, glyph| ink.union(glyph.ink));
            prop_assert_eq!(ink, atom.word.ink);
        }
    }
}
