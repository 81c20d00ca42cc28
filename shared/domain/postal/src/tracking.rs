//! The tracking code of an Intelligent Mail barcode.

/// Digits of a tracking code.
const TRACKING_DIGITS: usize = 20;

/// Digits of a whole barcode: tracking code, and a routing code of 0, 5, 9 or 11.
const BARCODE_DIGITS: [usize; 4] = [20, 25, 29, 31];

/// The tracking code of a barcode: twenty digits that say who mails what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TrackingCode {
    digits: [u8; TRACKING_DIGITS],
    /// Where the serial number begins.
    serial_at: usize,
}

impl TrackingCode {
    /// Reads it from its digits, or from those of a whole barcode, of which it is the first part. Spaces and hyphens between groups
    /// do not count.
    pub fn parse(text: &str) -> Option<Self> {
        let mut digits = [0_u8; TRACKING_DIGITS];
        let mut count = 0;
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => {
                    if let Some(place) = digits.get_mut(count) {
                        *place = byte;
                    }
                    count += 1;
                }
                b' ' | b'-' => {}
                _ => return None,
            }
        }
        // A mailer id of nine digits begins with 9, one of six does not.
        let serial_at = if digits[5] == b'9' { 14 } else { 11 };
        BARCODE_DIGITS
            .contains(&count)
            .then_some(Self { digits, serial_at })
    }

    fn text_between(&self, from: usize, to: usize) -> &str {
        std::str::from_utf8(&self.digits[from..to]).unwrap_or_default()
    }

    /// All twenty digits.
    pub fn as_str(&self) -> &str {
        self.text_between(0, TRACKING_DIGITS)
    }

    /// The first two digits: how the mail is sorted.
    pub fn barcode_id(&self) -> &str {
        self.text_between(0, 2)
    }

    /// Three digits: the class of mail and the services asked for.
    pub fn service_type(&self) -> &str {
        self.text_between(2, 5)
    }

    /// Six digits, or nine that begin with 9.
    pub fn mailer_id(&self) -> &str {
        self.text_between(5, self.serial_at)
    }

    /// The serial number: what the mailer's count of mailpieces ends with.
    pub fn serial(&self) -> u64 {
        self.text_between(self.serial_at, TRACKING_DIGITS)
            .parse()
            .unwrap_or_default()
    }

    /// How many serial numbers its mailer has: they come again after that many.
    pub fn serial_count(&self) -> u64 {
        10_u64.pow((TRACKING_DIGITS - self.serial_at) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailer_id_has_six_digits_or_nine() {
        let six = TrackingCode::parse("00310123456000000042").unwrap();
        let parts = (six.barcode_id(), six.service_type(), six.mailer_id());
        assert_eq!(parts, ("00", "310", "123456"));
        assert_eq!((six.serial(), six.serial_count()), (42, 1_000_000_000));
        let nine = TrackingCode::parse("00-310-901234567-000042 78701-1234").unwrap();
        assert_eq!((nine.mailer_id(), nine.serial()), ("901234567", 42));
        assert_eq!(nine.serial_count(), 1_000_000);
        assert_eq!(nine.as_str(), "00310901234567000042");
    }

    #[test]
    fn other_numbers_of_digits_are_no_tracking_code() {
        for text in [
            "",
            "0031012345600000004",
            "003101234560000000421",
            "0031012345600000004x",
        ] {
            assert_eq!(TrackingCode::parse(text), None, "{text}");
        }
    }
}
