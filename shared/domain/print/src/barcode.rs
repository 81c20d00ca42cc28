//! The Intelligent Mail barcode of the US Postal Service (specification USPS-B-3200): 65 bars of four states that say
//! who mails what with which service to where.

use std::fmt;
use std::str::FromStr;

use barcodes::common::traits::BarcodeEncoder;
use barcodes::postal::imb::Imb;
use pdf_writer::Content;

use crate::number::pdf_number;

/// Bars of every barcode.
const BARS: usize = 65;

/// Columns and rows of the encoder's answer: a bar in each second column; ascender, tracker, descender.
const COLUMNS: usize = BARS * 2 - 1;
const ROWS: usize = 3;

/// Points of an inch.
const INCH: f64 = 72.0;

/// From bar to bar: 22 in an inch, of the 20 to 24 that are allowed.
const PITCH: f64 = INCH / 22.0;

/// A bar's width, of the 0.015 to 0.025 inches that are allowed.
const BAR_WIDTH: f64 = 0.020 * INCH;

/// Height of the part that all bars have, of the 0.039 to 0.057 inches that are allowed.
const TRACKER_HEIGHT: f64 = 0.048 * INCH;

/// How far a bar reaches above or below that. A full bar is 0.145 inches then, of the 0.125 to 0.165 that are allowed.
const REACH: f64 = 0.0485 * INCH;

/// The second digit of a barcode and its first: no sortation is told.
const IDENTIFIER: &str = "00";

/// A mailer as the Postal Service knows it: six digits, or nine that begin with 9.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MailerId(String);

/// Three digits: the class of mail and the services asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServiceType(String);

/// A barcode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barcode {
    tracking: String,
    routing: String,
    bars: [BarState; BARS],
}

/// The state of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarState {
    /// The part that all bars have.
    Tracker,
    /// That and above.
    Ascender,
    /// That and below.
    Descender,
    /// All.
    Full,
}

/// Why there is no barcode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BarcodeError {
    /// Neither six digits nor nine that begin with 9.
    #[error("{0:?} is no mailer id: six digits, or nine that begin with 9")]
    MailerId(String),
    /// Not three digits.
    #[error("{0:?} is no service type: three digits")]
    ServiceType(String),
    /// More digits than the mailer id leaves room for.
    #[error("{0} is too large for a serial number")]
    Serial(u64),
    /// The ZIP is not five digits, or what follows it not four.
    #[error("{0:?} is no routing code: a ZIP or ZIP+4")]
    Routing(String),
}

impl MailerId {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many serial numbers there are: the first is 0.
    pub fn serial_count(&self) -> u64 {
        if self.0.len() == 6 {
            1_000_000_000
        } else {
            1_000_000
        }
    }
}

impl ServiceType {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Barcode {
    /// The barcode of a card.
    ///
    /// # Errors
    /// [`BarcodeError::Serial`] and [`BarcodeError::Routing`].
    pub fn new(
        service: &ServiceType,
        mailer: &MailerId,
        serial: u64,
        zip: &str,
        plus4: Option<&str>,
    ) -> Result<Self, BarcodeError> {
        let digits = 15 - mailer.0.len();
        if serial >= mailer.serial_count() {
            return Err(BarcodeError::Serial(serial));
        }
        let tracking = format!("{IDENTIFIER}{}{}{serial:0digits$}", service.0, mailer.0);
        let routing = format!("{zip}{}", plus4.unwrap_or_default());
        Self::encode(tracking, routing)
    }

    /// Twenty digits of tracking code; routing code of 0, 5, 9 or 11.
    fn encode(tracking: String, routing: String) -> Result<Self, BarcodeError> {
        let mut modules = [false; COLUMNS * ROWS];
        let text = if routing.is_empty() {
            tracking.clone()
        } else {
            format!("{tracking}-{routing}")
        };
        Imb::encode_into(&text, &mut modules)
            .map_err(|_| BarcodeError::Routing(routing.clone()))?;
        let bars = std::array::from_fn(|bar| {
            let column = bar * 2;
            match (modules[column], modules[2 * COLUMNS + column]) {
                (false, false) => BarState::Tracker,
                (true, false) => BarState::Ascender,
                (false, true) => BarState::Descender,
                (true, true) => BarState::Full,
            }
        });
        Ok(Self {
            tracking,
            routing,
            bars,
        })
    }

    /// From left to right.
    pub const fn bars(&self) -> &[BarState; BARS] {
        &self.bars
    }

    /// Points from the first bar's left edge to the last one's right.
    #[cfg(test)]
    const WIDTH: f64 = PITCH * (BARS - 1) as f64 + BAR_WIDTH;

    /// Points from the top of an ascender to the foot of a descender.
    pub(crate) const HEIGHT: f64 = TRACKER_HEIGHT + 2.0 * REACH;

    /// Draws it with its upper left corner there.
    pub(crate) fn draw(&self, content: &mut Content, (left, top): (f64, f64)) {
        content.set_fill_cmyk(0.0, 0.0, 0.0, 1.0);
        let mut x = left;
        for bar in &self.bars {
            let above = if matches!(bar, BarState::Ascender | BarState::Full) {
                REACH
            } else {
                0.0
            };
            let below = if matches!(bar, BarState::Descender | BarState::Full) {
                REACH
            } else {
                0.0
            };
            let (y, height) = (top + REACH - above, TRACKER_HEIGHT + above + below);
            content.rect(
                pdf_number(x),
                pdf_number(y),
                pdf_number(BAR_WIDTH),
                pdf_number(height),
            );
            x += PITCH;
        }
        content.fill_nonzero();
    }
}

/// The digits, tracking and routing code: 20, 25 or 29.
impl fmt::Display for Barcode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.tracking, self.routing)
    }
}

impl FromStr for MailerId {
    type Err = BarcodeError;

    fn from_str(text: &str) -> Result<Self, BarcodeError> {
        let fits = match text.len() {
            6 => !text.starts_with('9'),
            9 => text.starts_with('9'),
            _ => false,
        };
        let is_id = fits && are_digits(text);
        is_id
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| BarcodeError::MailerId(text.to_owned()))
    }
}

impl FromStr for ServiceType {
    type Err = BarcodeError;

    fn from_str(text: &str) -> Result<Self, BarcodeError> {
        let is_type = text.len() == 3 && are_digits(text);
        is_type
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| BarcodeError::ServiceType(text.to_owned()))
    }
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bar_letters(barcode: &Barcode) -> String {
        let letter = |bar: &BarState| match bar {
            BarState::Tracker => 'T',
            BarState::Ascender => 'A',
            BarState::Descender => 'D',
            BarState::Full => 'F',
        };
        barcode.bars().iter().map(letter).collect()
    }

    /// The four examples that the specification gives in full.
    #[test]
    fn the_examples_of_the_specification_encode_as_published() {
        const TRACKING: &str = "01234567094987654321";
        for (routing, bars) in [
            (
                "",
                "ATTFATTDTTADTAATTDTDTATTDAFDDFADFDFTFFFFFTATFAAAATDFFTDAADFTFDTDT",
            ),
            (
                "01234",
                "DTTAFADDTTFTDTFTFDTDDADADAFADFATDDFTAAAFDTTADFAAATDFDTDFADDDTDFFT",
            ),
            (
                "012345678",
                "ADFTTAFDTTTTFATTADTAAATFTFTATDAAAFDDADATATDTDTTDFDTDATADADTDFFTFA",
            ),
            (
                "01234567891",
                "AADTFFDFTDADTAADAATFDTDDAAADDTDTTDAFADADDDTFFFDDTTTADFAAADFTDAADA",
            ),
        ] {
            let barcode = Barcode::encode(TRACKING.to_owned(), routing.to_owned()).unwrap();
            assert_eq!(bar_letters(&barcode), bars, "routing {routing:?}");
        }
    }

    #[test]
    fn the_digits_are_identifier_service_mailer_serial_and_routing() {
        let service = "301".parse().unwrap();
        let (short, long) = ("123456".parse().unwrap(), "912345678".parse().unwrap());
        let barcode = Barcode::new(&service, &short, 42, "78701", Some("1234")).unwrap();
        assert_eq!(barcode.to_string(), "00301123456000000042787011234");
        let barcode = Barcode::new(&service, &long, 42, "78701", None).unwrap();
        assert_eq!(barcode.to_string(), "0030191234567800004278701");
    }

    #[test]
    fn a_serial_number_that_has_no_room_is_refused_and_never_shortened() {
        let service = "301".parse().unwrap();
        for (mailer, serials) in [("123456", 1_000_000_000), ("912345678", 1_000_000)] {
            let mailer: MailerId = mailer.parse().unwrap();
            assert!(Barcode::new(&service, &mailer, serials - 1, "78701", None).is_ok());
            let refused = Barcode::new(&service, &mailer, serials, "78701", None);
            assert_eq!(refused.err(), Some(BarcodeError::Serial(serials)));
        }
    }

    #[test]
    fn what_is_no_mailer_service_or_routing_is_refused() {
        for text in ["", "12345", "912345", "123456789", "91234567x", "٣٤٥"] {
            assert!(text.parse::<MailerId>().is_err(), "{text}");
        }
        for text in ["", "30", "3000", "3a0"] {
            assert!(text.parse::<ServiceType>().is_err(), "{text}");
        }
        let (service, mailer) = ("301".parse().unwrap(), "123456".parse().unwrap());
        for (zip, plus4) in [("7870", None), ("78701", Some("12")), ("7870x", None)] {
            assert!(
                Barcode::new(&service, &mailer, 1, zip, plus4).is_err(),
                "{zip}"
            );
        }
    }

    #[test]
    fn its_size_is_within_the_postal_service_s_bounds() {
        assert!((20.0..=24.0).contains(&(INCH / PITCH)));
        assert!((0.125..=0.165).contains(&(Barcode::HEIGHT / INCH)));
        assert!((0.039..=0.057).contains(&(TRACKER_HEIGHT / INCH)));
        assert!((2.667..=3.225).contains(&(Barcode::WIDTH / INCH)));
    }

    proptest! {
        #[test]
        fn every_card_has_a_barcode_and_two_serials_differ(
            serial in 0_u64..999_999_999, zip in "[0-9]{5}", plus4 in proptest::option::of("[0-9]{4}"),
        ) {
            let (service, mailer) = ("300".parse().unwrap(), "123456".parse().unwrap());
            let barcode = |serial| *Barcode::new(&service, &mailer, serial, &zip, plus4.as_deref()).unwrap().bars();
            prop_assert_ne!(barcode(serial), barcode(serial + 1));
        }
    }
}
