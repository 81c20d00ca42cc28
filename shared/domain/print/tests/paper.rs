//! A printed file, read by programs that know nothing of ours: poppler's tools, a QR decoder.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use chrono::{TimeZone, Utc};
use design::{
    Colour, ElementFrame, Font, Glyph, GlyphRun, ImageFit, ItemDrawing, LaidOutPage, PageItem,
    PageRect, Product, ShapeElement, ShapeOutline, Side,
};
use model::id::DesignId;
use model::scan::MailpieceCode;
use print::{
    AddressSide, Barcode, PictureError, PictureStore, PressError, PressFileWriter, PressMailpiece,
    PressMailpieceError, PressSettings, ProofCrop, render_proof,
};
use skrifa::MetadataProvider;

const PUBLIC_URL: &str = "https://mail.example.com";
const LINK: &str = "https://pictures.example.com/lawn.png";

/// Pictures in memory, and how often each was asked for.
#[derive(Default)]
struct MemoryPictures {
    files: BTreeMap<String, Vec<u8>>,
    reads: usize,
}

impl PictureStore for MemoryPictures {
    fn read_picture(&mut self, file: &str) -> Result<Bytes, PictureError> {
        self.reads += 1;
        self.files
            .get(file)
            .cloned()
            .map(Bytes::from)
            .ok_or(PictureError::Missing)
    }
}

fn memory_pictures(name: &str, bytes: Vec<u8>) -> MemoryPictures {
    MemoryPictures {
        files: BTreeMap::from([(name.to_owned(), bytes)]),
        reads: 0,
    }
}

/// A picture of 40 by 20 pixels whose left half is red and whose right half is blue.
fn two_halves(format: image::ImageFormat) -> Vec<u8> {
    let picture = image::RgbImage::from_fn(40, 20, |x, _| {
        image::Rgb(if x < 20 { [255, 0, 0] } else { [0, 0, 255] })
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn press_settings(product: Product) -> PressSettings {
    PressSettings {
        product,
        public_url: PUBLIC_URL.to_owned(),
        title: "Test".to_owned(),
        created_at: Utc.with_ymd_and_hms(2026, 11, 21, 9, 30, 0).unwrap(),
        id: [7; 16],
    }
}

fn page_item(
    element: &str,
    area: (f64, f64, f64, f64),
    varies: bool,
    drawing: ItemDrawing,
) -> PageItem {
    let (x, y, width, height) = area;
    let frame = ElementFrame {
        area: PageRect {
            x,
            y,
            width,
            height,
        },
        rotation: 0.0,
    };
    PageItem {
        element: Arc::from(element),
        frame,
        varies,
        drawing,
    }
}

/// Letters beside each other, as a layout would give them.
fn text_drawing(text: &str, font: Font, size: f64, (left, y): (f64, f64)) -> ItemDrawing {
    let file = skrifa::FontRef::new(font.bytes()).unwrap();
    let (charmap, location) = (file.charmap(), skrifa::instance::LocationRef::default());
    let metrics = file.glyph_metrics(skrifa::instance::Size::new(size as f32), location);
    let mut x = left;
    let glyphs = text.char_indices().map(|(start, character)| {
        let glyph = charmap.map(character).unwrap();
        let advance = f64::from(metrics.advance_width(glyph).unwrap());
        x += advance;
        let id = u16::try_from(glyph.to_u32()).unwrap();
        let characters = start..start + character.len_utf8();
        Glyph {
            id,
            x: x - advance,
            y,
            rotation: 0.0,
            advance,
            characters,
        }
    });
    let glyphs = glyphs.collect();
    ItemDrawing::Text(Arc::from([GlyphRun {
        font,
        size,
        colour: Colour::BLACK,
        text: text.to_owned(),
        glyphs,
    }]))
}

fn code_drawing() -> ItemDrawing {
    ItemDrawing::Code {
        position: 0,
        colour: Colour {
            red: 31,
            green: 95,
            blue: 58,
        },
    }
}

fn picture_drawing() -> ItemDrawing {
    ItemDrawing::Picture {
        link: Arc::from(LINK),
        fit: ImageFit::Cover,
    }
}

fn lay_out_pages(name: &str) -> Vec<LaidOutPage> {
    let green = ShapeElement {
        outline: ShapeOutline::Rectangle,
        corner_radius: 0.0,
        fill: Some(Colour {
            red: 31,
            green: 95,
            blue: 58,
        }),
        stroke: None,
    };
    let front = vec![
        page_item("photo", (-9.0, -9.0, 450.0, 180.0), true, picture_drawing()),
        page_item(
            "banner",
            (-9.0, 171.0, 450.0, 126.0),
            false,
            ItemDrawing::Shape(green),
        ),
        page_item(
            "slogan",
            (18.0, 240.0, 300.0, 30.0),
            false,
            text_drawing("Fresh lawns", Font::Lora, 20.0, (18.0, 262.0)),
        ),
        page_item(
            "name",
            (18.0, 183.0, 300.0, 40.0),
            true,
            text_drawing(name, Font::InterBold, 28.0, (18.0, 212.0)),
        ),
    ];
    let back = vec![page_item(
        "code",
        (18.0, 171.0, 64.0, 64.0),
        true,
        code_drawing(),
    )];
    let background = Some(Colour {
        red: 244,
        green: 241,
        blue: 232,
    });
    vec![
        LaidOutPage {
            side: Side::Front,
            background: None,
            items: front,
        },
        LaidOutPage {
            side: Side::Back,
            background,
            items: back,
        },
    ]
}

fn sample_address_side() -> AddressSide<'static> {
    let (service, mailer) = ("301".parse().unwrap(), "123456".parse().unwrap());
    AddressSide {
        recipient: ["ADA MILES", "1100 CONGRESS AVE", "AUSTIN TX 78701-1234"]
            .map(str::to_owned)
            .to_vec(),
        return_address: &[],
        indicia: &[],
        barcode: Some(Barcode::new(&service, &mailer, 42, "78701", Some("1234")).unwrap()),
    }
}

struct SampleMailpiece {
    pages: Vec<LaidOutPage>,
    code: MailpieceCode,
    pictures: BTreeMap<String, String>,
    design: (DesignId, i32),
}

impl SampleMailpiece {
    fn new(name: &str, design: (DesignId, i32)) -> Self {
        let pictures = BTreeMap::from([(LINK.to_owned(), "pictures/lawn.png".to_owned())]);
        Self {
            pages: lay_out_pages(name),
            code: MailpieceCode::parse("aZ09aZ09aZ").unwrap(),
            pictures,
            design,
        }
    }

    fn press_mailpiece(&self) -> PressMailpiece<'_> {
        PressMailpiece {
            design: self.design,
            pages: &self.pages,
            code: Some(&self.code),
            address: sample_address_side(),
            pictures: &self.pictures,
        }
    }
}

/// Prints a card for each name.
fn print_cards(names: &[&str], kept: &mut MemoryPictures) -> Vec<u8> {
    let design = (DesignId(uuid::Uuid::from_u128(1)), 1);
    let mut press = PressFileWriter::new(Vec::new(), press_settings(Product::Postcard4x6)).unwrap();
    for (index, name) in names.iter().enumerate() {
        let first = press
            .print_mailpiece(&SampleMailpiece::new(name, design).press_mailpiece(), kept)
            .unwrap();
        assert_eq!(first, index * 2 + 1);
    }
    press.finish().unwrap()
}

fn print_one() -> Vec<u8> {
    print_cards(
        &["Ada"],
        &mut memory_pictures("pictures/lawn.png", two_halves(image::ImageFormat::Png)),
    )
}

/// What one of poppler's tools says about the file.
fn run_poppler(tool: &str, arguments: &[&str], pdf: &[u8]) -> String {
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("{tool} (package poppler-utils) cannot be started: {error}")
        });
    let mut stdin = child.stdin.take().unwrap();
    let bytes = pdf.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    // The tool may have seen enough before the end.
    let _ = writer.join().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && complaints.is_empty(),
        "{tool}: {complaints}"
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_sheet_ends_with_the_bleed_and_the_card_with_the_trim() {
    let said = run_poppler(
        "pdfinfo",
        &["-box", "-f", "1", "-l", "2", "-"],
        &print_one(),
    );
    let line = |start: &str| {
        let found = said.lines().find(|line| line.starts_with(start)).unwrap();
        found[start.len()..]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(line("Pages:"), "2");
    assert_eq!(line("Page    1 MediaBox:"), "0.00 0.00 450.00 306.00");
    assert_eq!(line("Page    2 BleedBox:"), "0.00 0.00 450.00 306.00");
    assert_eq!(line("Page    2 TrimBox:"), "9.00 9.00 441.00 297.00");
}

#[test]
fn fonts_are_embedded_subsets_with_characters() {
    let said = run_poppler("pdffonts", &["-"], &print_one());
    let fonts: Vec<&str> = said.lines().skip(2).collect();
    assert_eq!(fonts.len(), 3, "{said}");
    for font in fonts {
        let words: Vec<&str> = font.split_whitespace().collect();
        assert!(words[0].as_bytes()[6] == b'+', "{font}");
        // embedded, subset, with a map to Unicode
        assert_eq!(
            words[words.len() - 5..words.len() - 2],
            ["yes", "yes", "yes"],
            "{font}"
        );
    }
}

#[test]
fn text_is_text_and_reads_as_it_was_written() {
    let said = run_poppler("pdftotext", &["-layout", "-", "-"], &print_one());
    for line in [
        "Fresh lawns",
        "Ada",
        "ADA MILES",
        "1100 CONGRESS AVE",
        "AUSTIN TX 78701-1234",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
}

#[test]
fn a_picture_on_many_cards_is_in_the_file_and_read_once() {
    let mut kept = memory_pictures("pictures/lawn.png", two_halves(image::ImageFormat::Png));
    let names: Vec<String> = (0..250).map(|number| format!("Ada {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = print_cards(&names, &mut kept);
    assert_eq!(kept.reads, 1);
    let said = run_poppler("pdfimages", &["-list", "-"], &many);
    let objects: std::collections::HashSet<&str> = said
        .lines()
        .skip(2)
        .map(|line| line.split_whitespace().nth(10).unwrap())
        .collect();
    assert_eq!((said.lines().count() - 2, objects.len()), (250, 1));
    // The page tree has more than one node now; every page is found.
    assert!(
        run_poppler("pdftotext", &["-f", "499", "-l", "500", "-", "-"], &many).contains("Ada 249")
    );
}

#[test]
fn what_does_not_vary_is_in_the_file_once_for_each_version() {
    let mut kept = memory_pictures("pictures/lawn.png", two_halves(image::ImageFormat::Png));
    let mut press = PressFileWriter::new(Vec::new(), press_settings(Product::Postcard4x6)).unwrap();
    for version in [1, 1, 1, 2] {
        let design = (DesignId(uuid::Uuid::from_u128(1)), version);
        press
            .print_mailpiece(
                &SampleMailpiece::new("Ada", design).press_mailpiece(),
                &mut kept,
            )
            .unwrap();
    }
    let pdf = press.finish().unwrap();
    let forms = pdf
        .windows(13)
        .filter(|bytes| bytes == b"/Subtype/Form")
        .count();
    assert_eq!(forms, 2 * 2, "banner and slogan of two versions");
}

#[test]
fn the_same_cards_make_the_same_bytes() {
    assert_eq!(print_one(), print_one());
}

#[test]
fn a_decoder_reads_the_code_from_the_proof() {
    let pngs = render_proof(print_one(), Product::Postcard4x6, [2], 300, ProofCrop::Trim).unwrap();
    let back = image::load_from_memory(&pngs[0]).unwrap().into_luma8();
    assert_eq!(back.dimensions(), (1800, 1200));
    let (width, height) = (back.width() as usize, back.height() as usize);
    let mut prepared = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| {
        back.get_pixel(x as u32, y as u32).0[0]
    });
    let found: Vec<String> = prepared
        .detect_grids()
        .iter()
        .map(|grid| grid.decode().unwrap().1)
        .collect();
    assert_eq!(found, [format!("{PUBLIC_URL}/q/aZ09aZ09aZ")]);
}

#[test]
fn black_letters_are_black_ink_alone_and_print_over() {
    let design = (DesignId(uuid::Uuid::from_u128(1)), 1);
    let mut press = PressFileWriter::new(Vec::new(), press_settings(Product::Postcard4x6)).unwrap();
    let mut sample = SampleMailpiece::new("Ada", design);
    sample.pages[0]
        .items
        .retain(|item| &*item.element == "name");
    press
        .print_mailpiece(&sample.press_mailpiece(), &mut MemoryPictures::default())
        .unwrap();
    let pdf = hayro::hayro_syntax::Pdf::new(Arc::new(press.finish().unwrap())).unwrap();
    let content = String::from_utf8_lossy(pdf.pages()[0].page_stream().unwrap()).into_owned();
    assert!(content.contains("/Overprint gs"), "{content}");
    assert!(content.contains("0 0 0 1 k"), "{content}");
    assert!(!content.contains("rg"), "{content}");
}

/// The pixel at these points of the trimmed card, of the front.
fn pixel_at(png: &[u8], (x, y): (f64, f64)) -> [u8; 3] {
    let picture = image::load_from_memory(png).unwrap().into_rgb8();
    let scale = f64::from(picture.width()) / Product::Postcard4x6.trim_area().width;
    picture.get_pixel((x * scale) as u32, (y * scale) as u32).0
}

#[test]
fn pictures_stand_as_they_are_looked_at() {
    for format in [image::ImageFormat::Png, image::ImageFormat::Jpeg] {
        let pdf = print_cards(
            &["Ada"],
            &mut memory_pictures("pictures/lawn.png", two_halves(format)),
        );
        let front = render_proof(pdf, Product::Postcard4x6, [1], 72, ProofCrop::Trim)
            .unwrap()
            .remove(0);
        let (left, right) = (
            pixel_at(&front, (100.0, 80.0)),
            pixel_at(&front, (330.0, 80.0)),
        );
        assert!(left[0] > 200 && left[2] < 60, "{format:?} {left:?}");
        assert!(right[2] > 200 && right[0] < 60, "{format:?} {right:?}");
    }
}

#[test]
fn a_picture_in_inks_prints_in_its_inks() {
    use jpeg_encoder::ColorType::{Cmyk, CmykAsYcck};
    // Yellow and magenta make red, all without black.
    let red = [0, 255, 255, 0].repeat(40 * 20);
    for colours in [Cmyk, CmykAsYcck] {
        let mut file = Vec::new();
        jpeg_encoder::Encoder::new(&mut file, 95)
            .encode(&red, 40, 20, colours)
            .unwrap();
        let pdf = print_cards(&["Ada"], &mut memory_pictures("pictures/lawn.png", file));
        let listed = run_poppler("pdfimages", &["-list", "-"], &pdf);
        assert!(listed.contains("cmyk"), "{listed}");
        let pngs = render_proof(pdf, Product::Postcard4x6, 1..=1, 72, ProofCrop::Trim).unwrap();
        let [r, g, b] = pixel_at(&pngs[0], (60.0, 60.0));
        assert!(r > 180 && g < 90 && b < 90, "{colours:?}: {r} {g} {b}");
    }
}

#[test]
fn zones_of_the_post_office_print_white() {
    let back = render_proof(print_one(), Product::Postcard4x6, [2], 72, ProofCrop::Trim)
        .unwrap()
        .remove(0);
    assert_eq!(
        pixel_at(&back, (10.0, 100.0)),
        [244, 241, 232],
        "the background"
    );
    for zone in Product::Postcard4x6.reserved_zones() {
        let PageRect { x, y, .. } = zone.area;
        assert_eq!(
            pixel_at(&back, (x + 2.0, y + 2.0)),
            [255, 255, 255],
            "{}",
            zone.purpose
        );
    }
}

#[test]
fn a_card_that_cannot_print_says_why_and_leaves_no_page() {
    let design = (DesignId(uuid::Uuid::from_u128(1)), 1);
    let mut press = PressFileWriter::new(Vec::new(), press_settings(Product::Postcard4x6)).unwrap();
    let mut print = |change: fn(&mut SampleMailpiece), kept: &mut MemoryPictures| {
        let mut sample = SampleMailpiece::new("Ada", design);
        change(&mut sample);
        match press.print_mailpiece(&sample.press_mailpiece(), kept) {
            Err(PressError::Card(problem)) => problem,
            other => panic!("{other:?}"),
        }
    };
    let file = "pictures/lawn.png".to_owned();
    let missing = print(|_| (), &mut MemoryPictures::default());
    assert_eq!(missing, PressMailpieceError::PictureMissing(file));
    let not_kept = print(
        |sample| sample.pictures.clear(),
        &mut MemoryPictures::default(),
    );
    assert_eq!(not_kept, PressMailpieceError::NotKept(LINK.to_owned()));
    let other = |sample: &mut SampleMailpiece| {
        sample.pictures = BTreeMap::from([(LINK.to_owned(), "other".to_owned())])
    };
    let unreadable = print(other, &mut memory_pictures("other", b"no picture".to_vec()));
    assert!(
        matches!(unreadable, PressMailpieceError::PictureUnreadable { .. }),
        "{unreadable}"
    );
    assert_eq!(press.page_count(), 0);
}
