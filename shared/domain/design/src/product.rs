//! What is printed: sizes, and the zones that belong to the post office.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::geometry::PageRect;

/// Points of an inch.
const INCH: f64 = 72.0;

/// What is printed past the edge on every side, to be cut off.
const BLEED: f64 = 0.125 * INCH;

/// A product, as named in the API contract's `product_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum Product {
    /// A postcard of 6 by 4 inches.
    #[serde(rename = "postcard_4x6")]
    Postcard4x6,
    /// A postcard of 9 by 6 inches.
    #[serde(rename = "postcard_6x9")]
    Postcard6x9,
    /// A postcard of 11 by 6 inches.
    #[serde(rename = "postcard_6x11")]
    Postcard6x11,
    /// A sheet of 8.5 by 11 inches, printed on both sides, folded into a window envelope.
    #[serde(rename = "letter")]
    Letter,
}

/// One of a product's two surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The picture side of a postcard, the first page of a letter.
    Front,
    /// The address side of a postcard, the second page of a letter.
    Back,
}

/// What a reserved zone is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ZonePurpose {
    /// The recipient's address.
    Address,
    /// The Intelligent Mail barcode.
    Barcode,
    /// The postage.
    Indicia,
    /// The return address, on documents that have one.
    ReturnAddress,
}

/// A part of the address side that no element may cover. It prints white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReservedZone {
    /// What prints there.
    pub purpose: ZonePurpose,
    /// Where.
    pub area: PageRect,
}

/// A name that is no product's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown product {0:?}: use postcard_4x6, postcard_6x9, postcard_6x11 or letter")]
pub struct ParseProductError(pub String);

impl Product {
    /// Every product.
    pub const ALL: [Self; 4] = [
        Self::Postcard4x6,
        Self::Postcard6x9,
        Self::Postcard6x11,
        Self::Letter,
    ];

    /// Its name in the API contract, in documents and in prices.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Postcard4x6 => "postcard_4x6",
            Self::Postcard6x9 => "postcard_6x9",
            Self::Postcard6x11 => "postcard_6x11",
            Self::Letter => "letter",
        }
    }

    /// The card as it is cut.
    pub const fn trim_area(self) -> PageRect {
        let (width, height) = match self {
            Self::Postcard4x6 => (6.0, 4.0),
            Self::Postcard6x9 => (9.0, 6.0),
            Self::Postcard6x11 => (11.0, 6.0),
            Self::Letter => (8.5, 11.0),
        };
        PageRect::new(0.0, 0.0, width * INCH, height * INCH)
    }

    /// The card with what is cut off: where colour must reach to reach the edge.
    pub fn bleed_area(self) -> PageRect {
        self.trim_area().expand(BLEED)
    }

    /// Where nothing is lost when the cut is a little off. What must be read lies inside.
    pub fn safe_area(self) -> PageRect {
        let margin = match self {
            Self::Postcard4x6 | Self::Postcard6x9 | Self::Postcard6x11 => 0.125 * INCH,
            Self::Letter => 0.25 * INCH,
        };
        self.trim_area().expand(-margin)
    }

    /// The surface with the recipient's address.
    pub const fn address_side(self) -> Side {
        match self {
            Self::Postcard4x6 | Self::Postcard6x9 | Self::Postcard6x11 => Side::Back,
            Self::Letter => Side::Front,
        }
    }

    /// Where the recipient's address, the barcode and the postage print on the address side.
    pub fn reserved_zones(self) -> Vec<ReservedZone> {
        let zone = |purpose, area| ReservedZone { purpose, area };
        if self == Self::Letter {
            // All that the window of a #10 envelope can show, however the sheet lies in it. The postage
            // is on the envelope.
            return vec![
                zone(ZonePurpose::Barcode, PageRect::new(0.0, 144.0, 387.0, 50.0)),
                zone(ZonePurpose::Address, PageRect::new(0.0, 194.0, 387.0, 70.0)),
            ];
        }
        let PageRect { width, height, .. } = self.trim_area();
        // The barcode clear zone of the Domestic Mail Manual 202: 4 3/4 by 5/8 inches in the lower right
        // corner. The address lies above it, below 2 3/4 inches from the lower edge, where sorting machines
        // look.
        let (clear_width, clear_height) = (4.75 * INCH, 0.625 * INCH);
        vec![
            zone(
                ZonePurpose::Address,
                PageRect::new(width - 252.0, height - clear_height - 90.0, 234.0, 90.0),
            ),
            zone(
                ZonePurpose::Barcode,
                PageRect::new(
                    width - clear_width,
                    height - clear_height,
                    clear_width,
                    clear_height,
                ),
            ),
            zone(
                ZonePurpose::Indicia,
                PageRect::new(width - 99.0, 9.0, 90.0, 72.0),
            ),
        ]
    }

    /// Where the return address prints on the address side, in the upper left corner.
    pub fn return_address_zone(self) -> ReservedZone {
        let safe = self.safe_area();
        ReservedZone {
            purpose: ZonePurpose::ReturnAddress,
            area: PageRect::new(safe.x, safe.y, 180.0, 54.0),
        }
    }
}

impl Side {
    /// Both, the front first.
    pub const ALL: [Self; 2] = [Self::Front, Self::Back];
}

impl FromStr for Product {
    type Err = ParseProductError;

    fn from_str(name: &str) -> Result<Self, ParseProductError> {
        let found = Self::ALL
            .into_iter()
            .find(|product| product.as_str() == name);
        found.ok_or_else(|| ParseProductError(name.to_owned()))
    }
}

impl fmt::Display for Product {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Front => "front",
            Self::Back => "back",
        })
    }
}

impl fmt::Display for ZonePurpose {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Address => "address block",
            Self::Barcode => "barcode",
            Self::Indicia => "postage",
            Self::ReturnAddress => "return address",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::ElementFrame;

    #[test]
    fn names_are_those_of_the_contract_and_of_documents() {
        for product in Product::ALL {
            assert_eq!(product.as_str().parse(), Ok(product));
            assert_eq!(serde_json::to_value(product).unwrap(), product.as_str());
        }
        assert!(
            "postcard_5x7"
                .parse::<Product>()
                .unwrap_err()
                .to_string()
                .contains("postcard_4x6")
        );
    }

    #[test]
    fn zones_lie_on_the_card_and_apart() {
        for product in Product::ALL {
            let mut zones = product.reserved_zones();
            zones.push(product.return_address_zone());
            for (index, zone) in zones.iter().enumerate() {
                let frame = ElementFrame {
                    area: zone.area,
                    rotation: 0.0,
                };
                assert!(
                    frame.is_within(product.trim_area()),
                    "{product} {}",
                    zone.purpose
                );
                for other in &zones[index + 1..] {
                    assert!(
                        !frame.overlaps_area(other.area),
                        "{product} {} {}",
                        zone.purpose,
                        other.purpose
                    );
                }
            }
        }
    }

    #[test]
    fn the_barcode_clear_zone_is_as_the_post_office_says() {
        let zones = Product::Postcard4x6.reserved_zones();
        let barcode = zones
            .iter()
            .find(|zone| zone.purpose == ZonePurpose::Barcode)
            .unwrap();
        assert_eq!(barcode.area, PageRect::new(90.0, 243.0, 342.0, 45.0));
    }
}
