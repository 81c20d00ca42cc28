//! Printing: how many postcards a core lays out and draws in a second, and what that takes of memory.
//!
//! Each card has what the example design has: a picture that all share, a headline and a seal by recipient, a QR code,
//! address, barcode, return address. The file goes to a writer that counts.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use anyhow::Context;
use audience::fold_name;
use bytes::Bytes;
use design::{LayoutPlan, PrintableDesign, Product, RecipientValues, Typesetter};
use model::id::DesignId;
use model::scan::MailpieceCode;
use print::{
    AddressSide, Barcode, MailerId, PictureError, PictureStore, PressFileWriter, PressMailpiece,
    PressSettings, ServiceType,
};

use crate::figures::Figure;
use crate::step;

/// Cards of a file.
const SIZES: [usize; 3] = [500, 5_000, 20_000];

/// A link of the example design's default picture.
const LINK: &str = "https://images.example.com/lawn.jpg";

/// Numbers in names and addresses, after which they repeat as people's do. What a typesetter remembers of words is
/// bounded, and full after the smallest file.
const WORDS: usize = 400;

/// Pixels of the picture, each way.
const PICTURE_SIDE: u32 = 1_200;

const MB: f64 = 1_000_000.0;

/// A recipient of the example design.
struct Person {
    values: BTreeMap<&'static str, String>,
}

/// The one picture.
struct Photo(Bytes);

/// Counts what is written.
#[derive(Default)]
struct Counter {
    bytes: u64,
}

impl RecipientValues for Person {
    fn value(&self, field: &str) -> Option<&str> {
        self.values
            .get(fold_name(field).as_str())
            .map(String::as_str)
    }

    fn has_picture(&self, link: &str) -> bool {
        link == LINK
    }
}

impl PictureStore for Photo {
    fn read_picture(&mut self, _: &str) -> Result<Bytes, PictureError> {
        Ok(self.0.clone())
    }
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Measures everything.
pub async fn run() -> anyhow::Result<Vec<Figure>> {
    let document = serde_json::from_str(include_str!(
        "../../shared/domain/design/examples/postcard.json"
    ))?;
    let plan = LayoutPlan::new(PrintableDesign::parse(&document)?);
    let photo = photo()?;
    // Fonts are read once in a process, and that is not what is measured.
    print_cards(&plan, &photo, SIZES[0])?;
    let mut figures = Vec::new();
    let mut peaks = Vec::new();
    for cards in SIZES {
        step(&format!("{cards} postcards"));
        forget_peak()?;
        let begun = Instant::now();
        let bytes = print_cards(&plan, &photo, cards)?;
        let per_second = cards as f64 / begun.elapsed().as_secs_f64();
        peaks.push(peak_bytes()? / MB);
        figures.push(
            Figure::new(
                format!("{cards} postcards on one core"),
                per_second,
                "a second",
            )
            .at_least(500.0),
        );
        figures.push(Figure::new(
            format!("{cards} postcards: bytes of a card"),
            bytes as f64 / cards as f64,
            "bytes",
        ));
    }
    for (cards, peak) in SIZES.iter().zip(&peaks) {
        figures.push(Figure::new(
            format!("{cards} postcards: peak memory of the process"),
            *peak,
            "MB",
        ));
    }
    let growth = peaks
        .last()
        .zip(peaks.first())
        .map_or(0.0, |(last, first)| last - first);
    figures.push(Figure::new("20000 against 500: more memory", growth, "MB").at_most(10.0));
    Ok(figures)
}

fn photo() -> anyhow::Result<Bytes> {
    let picture = image::RgbImage::from_fn(PICTURE_SIDE, PICTURE_SIDE, |x, y| {
        let value = x.wrapping_mul(y).wrapping_mul(2_654_435_761) >> 16;
        image::Rgb([value as u8 / 4 + 40, (x / 8) as u8, (y / 8) as u8])
    });
    let mut bytes = io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Jpeg)?;
    Ok(bytes.into_inner().into())
}

fn person(number: usize) -> Person {
    const FIRST: [&str; 8] = [
        "Ada",
        "Grace",
        "Zoë",
        "Marguerite",
        "Li",
        "Bartholomew",
        "José",
        "Mary Ann",
    ];
    const CITIES: [&str; 4] = ["Austin", "Round Rock", "San Marcos", "Coeur d’Alene"];
    let values = [
        (
            "first_name",
            format!("{} {}", FIRST[number % FIRST.len()], number % WORDS),
        ),
        ("city", CITIES[number % CITIES.len()].to_owned()),
        ("offer", format!("{} dollars off", number % 90 + 10)),
        ("customer_id", (number % WORDS).to_string()),
    ];
    Person {
        values: BTreeMap::from(values),
    }
}

/// Prints so many cards; returns the bytes of the file.
fn print_cards(plan: &LayoutPlan, photo: &Bytes, cards: usize) -> anyhow::Result<u64> {
    let settings = PressSettings {
        product: Product::Postcard4x6,
        public_url: "https://mail.example.com".to_owned(),
        title: "Bench".to_owned(),
        created_at: chrono::DateTime::UNIX_EPOCH,
        id: [0; 16],
    };
    let (service, mailer): (ServiceType, MailerId) = ("301".parse()?, "123456".parse()?);
    let design = (DesignId::new(), 1);
    let code = MailpieceCode::parse("aZ09aZ09aZ").context("a code")?;
    let kept = BTreeMap::from([(LINK.to_owned(), "lawn.jpg".to_owned())]);
    let return_address =
        ["Green Lawn Care", "500 Congress Ave", "Austin, TX 78701"].map(str::to_owned);
    let mut typesetter = Typesetter::new();
    let mut pictures = Photo(photo.clone());
    let mut press = PressFileWriter::new(Counter::default(), settings)?;
    for number in 0..cards {
        let person = person(number);
        let pages = plan.lay_out(&mut typesetter, &person);
        let recipient = vec![
            format!("{} MILES", person.values["first_name"]).to_uppercase(),
            format!("{} CONGRESS AVE", number % WORDS),
            "AUSTIN TX 78701-1234".to_owned(),
        ];
        let barcode = Barcode::new(&service, &mailer, number as u64, "78701", Some("1234"))?;
        let address = AddressSide {
            recipient,
            return_address: &return_address,
            indicia: &[],
            barcode: Some(barcode),
        };
        let card = PressMailpiece {
            design,
            pages: &pages,
            code: Some(&code),
            address,
            pictures: &kept,
        };
        press.print_mailpiece(&card, &mut pictures)?;
    }
    Ok(press.finish()?.bytes)
}

/// Lets the system count this process's peak memory anew.
fn forget_peak() -> anyhow::Result<()> {
    std::fs::write("/proc/self/clear_refs", "5").context("the peak of memory cannot be reset")
}

fn peak_bytes() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .context("no peak of memory")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024.0)
}
