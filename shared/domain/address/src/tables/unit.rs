//! Secondary units: Publication 28 §213, §285 and Appendix C2.

use std::sync::LazyLock;

use crate::hash::WordMap;

/// A secondary unit designator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitDesignator {
    /// The standard form, `Apt`.
    pub standard: &'static str,
    /// The word means a unit wherever a number follows; the others are street names too
    /// (`Pier Ave`) and need more evidence.
    pub is_plain: bool,
    /// It stands without a number (`Rear`, `PH`).
    pub may_stand_alone: bool,
}

/// Standard form, spellings, whether plain, whether it may stand alone.
static DESIGNATORS: &[(&str, &str, bool, bool)] = &[
    (
        "Apt",
        "APT APARTMENT APMT APRT APTS APPT APTO APARTAMENTO",
        true,
        false,
    ),
    (
        "Bldg",
        "BLDG BUILDING BLD BLG BUILD EDIF EDIFICIO",
        true,
        false,
    ),
    ("Bsmt", "BSMT BASEMENT BASMT BMT", false, true),
    ("Dept", "DEPT DEPARTMENT", true, false),
    ("Fl", "FL FLOOR FLR FLOR", true, false),
    ("Frnt", "FRNT FRONT", false, true),
    ("Hngr", "HNGR HANGER HANGAR", false, false),
    ("Key", "KEY", false, false),
    ("Lbby", "LBBY LOBBY", false, true),
    ("Lot", "LOT", true, false),
    ("Lowr", "LOWR LOWER", false, true),
    ("Ofc", "OFC OFFICE", false, true),
    ("PH", "PH PENTHOUSE PNTHS", false, true),
    ("Pier", "PIER", false, false),
    ("PMB", "PMB MAILBOX", true, false),
    ("Rear", "REAR", false, true),
    ("Rm", "RM ROOM", true, false),
    ("Side", "SIDE", false, true),
    ("Slip", "SLIP", false, false),
    ("Spc", "SPC SPACE", true, false),
    ("Ste", "STE SUITE SUIT SUTE SUITES STES", true, false),
    ("Stop", "STOP", false, false),
    ("Trlr", "TRLR TRAILER TRL# TRAILR", true, false),
    ("Unit", "UNIT UNT UNITS CONDO", true, false),
    ("Uppr", "UPPR UPPER", false, true),
    ("#", "#", true, false),
    ("#", "NO NUM NUMBER", false, false),
];

static BY_SPELLING: LazyLock<WordMap<UnitDesignator>> = LazyLock::new(|| {
    DESIGNATORS
        .iter()
        .flat_map(|&(standard, spellings, is_plain, may_stand_alone)| {
            let designator = UnitDesignator {
                standard,
                is_plain,
                may_stand_alone,
            };
            spellings
                .split(' ')
                .map(move |spelling| (spelling, designator))
        })
        .collect()
});

/// The designator that an upper-case word spells.
pub(crate) fn find_unit_designator(word: &str) -> Option<UnitDesignator> {
    BY_SPELLING.get(word).copied()
}

/// The place of a designator in a line with several: the larger first, the mailbox last.
pub(crate) fn designator_rank(standard: &str) -> u8 {
    match standard {
        "Bldg" => 0,
        "Fl" => 1,
        "PMB" => 3,
        _ => 2,
    }
}

/// True for designators that senders use for one and the same unit, and which are therefore
/// compared alike: `# 5` and `Apt 5` of a house are one home.
pub(crate) fn is_interchangeable_designator(standard: &str) -> bool {
    matches!(standard, "#" | "Apt" | "Ste" | "Unit")
}

/// The number of an ordinal floor word: `SECOND` is 2.
pub(crate) fn floor_ordinal(word: &str) -> Option<&'static str> {
    static ORDINALS: [(&str, &str); 10] = [
        ("FIRST", "1"),
        ("SECOND", "2"),
        ("THIRD", "3"),
        ("FOURTH", "4"),
        ("FIFTH", "5"),
        ("SIXTH", "6"),
        ("SEVENTH", "7"),
        ("EIGHTH", "8"),
        ("NINTH", "9"),
        ("TENTH", "10"),
    ];
    ORDINALS
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, number)| *number)
}
