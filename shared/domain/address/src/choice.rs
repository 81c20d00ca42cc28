//! Where a delivery line can be read in two ways, and which of them is taken.

/// What speaks for a reading of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReadingGround {
    /// The rules of Publication 28 and the usual meaning of every word.
    Standard,
    /// The directional before the name may be a word of it: `North Cove Rd` is on North Cove, not north on Cove.
    DirectionalBegins,
    /// The directional at the end may be a word of the name, which has no suffix: `Park East`.
    DirectionalEnds,
    /// The suffix may be the last word of the name: `Cottage Grove`, whose suffix was left out or that has none.
    SuffixInName,
    /// The letter behind the suffix may be a unit and no directional: `12 Main St E`.
    DirectionalIsUnit,
    /// The letter behind the house number may be the unit: `12 B Main St`.
    LetterIsUnit,
    /// The number in words may be the street's name behind a shorter one: `One Twenty-Five High St`.
    NumberNamesStreet,
    /// The directional before the house number may be the number's, or the street's where it is usually the number's.
    GridNumber,
    /// `Un` may be a unit, or the suffix `Union` where it is usually a unit: `12 Oak Un 282`.
    ShortUnit,
    /// The number behind the name may belong to it and be no unit.
    NumberInName,
}

impl ReadingGround {
    /// Every ground, the one that decides most often first.
    pub const ALL: [Self; 10] = [
        Self::Standard,
        Self::GridNumber,
        Self::NumberNamesStreet,
        Self::ShortUnit,
        Self::DirectionalBegins,
        Self::DirectionalEnds,
        Self::SuffixInName,
        Self::DirectionalIsUnit,
        Self::LetterIsUnit,
        Self::NumberInName,
    ];

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The choices that reading meets, one of which may be made the other way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadingChoices {
    met: u16,
    wanted: ReadingGround,
}

impl Default for ReadingChoices {
    fn default() -> Self {
        Self::with_ground(ReadingGround::Standard)
    }
}

impl ReadingChoices {
    /// Reads as usual except where this ground speaks for something else.
    pub const fn with_ground(wanted: ReadingGround) -> Self {
        Self { met: 0, wanted }
    }

    /// Notes that there is a choice here. True when it is to be made as this ground has it, and not as usual.
    pub fn is_taken(&mut self, ground: ReadingGround) -> bool {
        self.met |= ground.bit();
        self.wanted == ground
    }

    /// True when a directional is read as a word of the name.
    pub const fn has_directional_in_name(self) -> bool {
        matches!(
            self.wanted,
            ReadingGround::DirectionalBegins | ReadingGround::DirectionalEnds
        )
    }

    /// The grounds of which one spoke for something else, likely ones first.
    pub fn grounds_met(self) -> impl Iterator<Item = ReadingGround> {
        ReadingGround::ALL
            .into_iter()
            .filter(move |ground| self.met & ground.bit() != 0)
    }
}
