//! Street suffixes: Publication 28, Appendix C1, with the misspellings met most often.

use std::sync::LazyLock;

use crate::hash::WordMap;

/// Each standard suffix as it is written, and every spelling read as it (its own included).
static SUFFIXES: &[(&str, &str)] = &[
    ("Aly", "ALLEE ALLEY ALLY ALY"),
    ("Anx", "ANEX ANNEX ANNX ANX"),
    ("Arc", "ARC ARCADE"),
    (
        "Ave",
        "AV AVE AVEN AVENE AVENEU AVENU AVENUE AVEUNE AVN AVNUE",
    ),
    ("Bch", "BCH BEACH"),
    ("Bg", "BG BURG"),
    ("Bgs", "BGS BURGS"),
    ("Blf", "BLF BLUF BLUFF"),
    ("Blfs", "BLFS BLUFFS"),
    (
        "Blvd",
        "BKVD BLV BLVD BLVDE BLVRD BOUL BOULAVARD BOULEVARD BOULV BVD",
    ),
    ("Bnd", "BEND BND"),
    ("Br", "BR BRANCH BRNCH"),
    ("Brg", "BRDGE BRG BRIDGE"),
    ("Brk", "BRK BROOK"),
    ("Brks", "BRKS BROOKS"),
    ("Btm", "BOT BOTTM BOTTOM BTM"),
    ("Byp", "BYP BYPA BYPAS BYPASS BYPS"),
    ("Byu", "BAYOO BAYOU BYU"),
    ("Cir", "CIR CIRC CIRCEL CIRCL CIRCLE CRCL CRCLE CRL"),
    ("Cirs", "CIRCLES CIRS"),
    ("Clb", "CLB CLUB"),
    ("Clf", "CLF CLIFF"),
    ("Clfs", "CLFS CLIFFS"),
    ("Cmn", "CMN COMMON"),
    ("Cmns", "CMNS COMMONS"),
    ("Cor", "COR CORNER"),
    ("Cors", "CORNERS CORS"),
    ("Cp", "CAMP CMP CP"),
    ("Cpe", "CAPE CPE"),
    ("Cres", "CRECENT CRES CRESCENT CRESENT CRSCNT CRSENT CRSNT"),
    ("Crk", "CK CR CREEK CRK"),
    ("Crse", "COURSE CRSE"),
    ("Crst", "CREST CRST"),
    ("Cswy", "CAUSEWAY CAUSWA CAUSWAY CSWY"),
    ("Ct", "COURT CRT CT"),
    ("Ctr", "CEN CENT CENTER CENTR CENTRE CNTER CNTR CTR"),
    ("Ctrs", "CENTERS CTRS"),
    ("Cts", "COURTS CTS"),
    ("Curv", "CURV CURVE"),
    ("Cv", "COVE CV"),
    ("Cvs", "COVES CVS"),
    ("Cyn", "CANYN CANYON CNYN CYN"),
    ("Dl", "DALE DL"),
    ("Dm", "DAM DM"),
    ("Dr", "DR DRIV DRIVE DRV"),
    ("Drs", "DRIVES DRS"),
    ("Dv", "DIV DIVIDE DV DVD"),
    ("Est", "EST ESTATE"),
    ("Ests", "ESTATES ESTS"),
    ("Expy", "EXP EXPR EXPRESS EXPRESSWAY EXPW EXPWY EXPY"),
    ("Ext", "EXT EXTENSION EXTN EXTNSN"),
    ("Exts", "EXTENSIONS EXTS"),
    ("Fall", "FALL"),
    ("Fld", "FIELD FLD"),
    ("Flds", "FIELDS FLDS"),
    ("Fls", "FALLS FLS"),
    ("Flt", "FLAT FLT"),
    ("Flts", "FLATS FLTS"),
    ("Frd", "FORD FRD"),
    ("Frds", "FORDS FRDS"),
    ("Frg", "FORG FORGE FRG"),
    ("Frgs", "FORGES FRGS"),
    ("Frk", "FORK FRK"),
    ("Frks", "FORKS FRKS"),
    ("Frst", "FOREST FORESTS FRST"),
    ("Fry", "FERRY FRRY FRY"),
    ("Ft", "FORT FRT FT"),
    ("Fwy", "FREEWAY FREEWY FRWAY FRWY FWY"),
    ("Gdn", "GARDEN GARDN GDN GRDEN GRDN"),
    ("Gdns", "GARDENS GDNS GRDNS"),
    ("Gln", "GLEN GLN"),
    ("Glns", "GLENS GLNS"),
    ("Grn", "GREEN GRN"),
    ("Grns", "GREENS GRNS"),
    ("Grv", "GROV GROVE GRV"),
    ("Grvs", "GROVES GRVS"),
    ("Gtwy", "GATEWAY GATEWY GATWAY GTWAY GTWY"),
    ("Hbr", "HARB HARBOR HARBR HBR HRBOR"),
    ("Hbrs", "HARBORS HBRS"),
    ("Hl", "HILL HL"),
    ("Hls", "HILLS HLS"),
    ("Holw", "HLLW HOLLOW HOLLOWS HOLW HOLWS"),
    ("Hts", "HEIGHT HEIGHTS HGTS HT HTS"),
    ("Hvn", "HAVEN HAVN HVN"),
    ("Hwy", "HGWY HIGHWAY HIGHWY HIWAY HIWY HWAY HWY HYWY"),
    ("Inlt", "INLET INLT"),
    ("Is", "IS ISLAND ISLND"),
    ("Isle", "ISLE ISLES"),
    ("Iss", "ISLANDS ISLNDS ISS"),
    ("Jct", "JCT JCTION JCTN JUNCTION JUNCTN JUNCTON"),
    ("Jcts", "JCTNS JCTS JUNCTIONS"),
    ("Knl", "KNL KNOL KNOLL"),
    ("Knls", "KNLS KNOLLS"),
    ("Ky", "KEY KY"),
    ("Kys", "KEYS KYS"),
    ("Land", "LAND"),
    ("Lck", "LCK LOCK"),
    ("Lcks", "LCKS LOCKS"),
    ("Ldg", "LDG LDGE LODG LODGE"),
    ("Lf", "LF LOAF"),
    ("Lgt", "LGT LIGHT"),
    ("Lgts", "LGTS LIGHTS"),
    ("Lk", "LAKE LK"),
    ("Lks", "LAKES LKS"),
    ("Ln", "LA LAN LANE LANES LN"),
    ("Lndg", "LANDING LNDG LNDNG"),
    ("Loop", "LOOP LOOPS"),
    ("Mall", "MALL"),
    ("Mdw", "MDW MEADOW"),
    ("Mdws", "MDWS MEADOWS MEDOWS"),
    ("Mews", "MEWS"),
    ("Ml", "MILL ML"),
    ("Mls", "MILLS MLS"),
    ("Mnr", "MANOR MNR"),
    ("Mnrs", "MANORS MNRS"),
    ("Msn", "MISSION MISSN MSN MSSN"),
    ("Mt", "MNT MOUNT MT"),
    ("Mtn", "MNTAIN MNTN MOUNTAIN MOUNTIN MTIN MTN"),
    ("Mtns", "MNTNS MOUNTAINS MTNS"),
    ("Mtwy", "MOTORWAY MTWY"),
    ("Nck", "NCK NECK"),
    ("Opas", "OPAS OVERPASS"),
    ("Orch", "ORCH ORCHARD ORCHRD"),
    ("Oval", "OVAL OVL"),
    ("Park", "PARK PARKS PK PRK"),
    ("Pass", "PASS"),
    ("Path", "PATH PATHS"),
    ("Pike", "PIKE PIKES"),
    (
        "Pkwy",
        "PAKWAY PARKWAY PARKWAYS PARKWY PKWAY PKWY PKWYS PKY PY",
    ),
    ("Pl", "PL PLACE PLC"),
    ("Pln", "PLAIN PLN"),
    ("Plns", "PLAINES PLAINS PLNS"),
    ("Plz", "PLAZA PLZ PLZA"),
    ("Pne", "PINE PNE"),
    ("Pnes", "PINES PNES"),
    ("Pr", "PR PRAIRIE PRARIE PRR"),
    ("Prt", "PORT PRT"),
    ("Prts", "PORTS PRTS"),
    ("Psge", "PASSAGE PSGE"),
    ("Pt", "POINT PT"),
    ("Pts", "POINTS PTS"),
    ("Radl", "RAD RADIAL RADIEL RADL"),
    ("Ramp", "RAMP"),
    ("Rd", "RAOD RD ROAD"),
    ("Rdg", "RDG RDGE RIDGE"),
    ("Rdgs", "RDGS RIDGES"),
    ("Rds", "RDS ROADS"),
    ("Riv", "RIV RIVER RIVR RVR"),
    ("Rnch", "RANCH RANCHES RNCH RNCHS"),
    ("Row", "ROW"),
    ("Rpd", "RAPID RPD"),
    ("Rpds", "RAPIDS RPDS"),
    ("Rst", "REST RST"),
    ("Rte", "ROUTE RTE"),
    ("Rue", "RUE"),
    ("Run", "RUN"),
    ("Shl", "SHL SHOAL"),
    ("Shls", "SHLS SHOALS"),
    ("Shr", "SHOAR SHORE SHR"),
    ("Shrs", "SHOARS SHORES SHRS"),
    ("Skwy", "SKWY SKYWAY"),
    ("Smt", "SMT SUMIT SUMITT SUMMIT"),
    ("Spg", "SPG SPNG SPRING SPRNG"),
    ("Spgs", "SPGS SPNGS SPRINGS SPRNGS"),
    ("Spur", "SPUR SPURS"),
    ("Sq", "SQ SQR SQRE SQU SQUARE SQUR"),
    ("Sqs", "SQRS SQS SQUARES"),
    ("St", "SREET ST STEET STR STREE STREET STRRET STRT"),
    ("Sta", "STA STATION STATN STN"),
    (
        "Stra",
        "STRA STRAV STRAVE STRAVEN STRAVENUE STRAVN STRVN STRVNUE",
    ),
    ("Strm", "STREAM STREME STRM"),
    ("Sts", "STREETS STS"),
    ("Ter", "TER TERACE TERR TERRACE TERRANCE"),
    ("Tpke", "TNPK TPK TPKE TRNPK TRNPKE TRPK TURNPIKE TURNPK"),
    ("Trak", "TRACK TRACKS TRAK TRK TRKS"),
    ("Trce", "TRACE TRACES TRCE"),
    ("Trfy", "TRAFFICWAY TRFY"),
    ("Trl", "TR TRAIL TRAILS TRL TRLS"),
    ("Trlr", "TRAILER TRLR TRLRS"),
    ("Trwy", "THROUGHWAY TRWY"),
    ("Tunl", "TUNEL TUNL TUNLS TUNNEL TUNNELS TUNNL"),
    ("Un", "UN UNION"),
    ("Uns", "UNIONS UNS"),
    ("Upas", "UNDERPASS UPAS"),
    ("Via", "VDCT VIA VIADCT VIADUCT"),
    ("Vis", "VIS VIST VISTA VST VSTA"),
    ("Vl", "VILLE VL"),
    ("Vlg", "VILL VILLAG VILLAGE VILLG VILLIAGE VLG"),
    ("Vlgs", "VILLAGES VLGS"),
    ("Vly", "VALLEY VALLY VLLY VLY"),
    ("Vlys", "VALLEYS VLYS"),
    ("Vw", "VIEW VW"),
    ("Vws", "VIEWS VWS"),
    ("Walk", "WALK WALKS"),
    ("Wall", "WALL"),
    ("Way", "WAY WY"),
    ("Ways", "WAYS"),
    ("Wl", "WELL WL"),
    ("Wls", "WELLS WLS"),
    ("Xing", "CROSSING CROSSNG CRSSING CRSSNG XING XNG"),
    ("Xrd", "CROSSROAD XRD"),
    ("Xrds", "CROSSROADS XRDS"),
];

/// Words that end street names as suffixes do, though Appendix C1 has no abbreviation for them. They are written out.
static UNABBREVIATED: &[(&str, &str)] = &[
    ("Bay", "BAY"),
    ("Close", "CLOSE"),
    ("Concourse", "CONCOURSE"),
    ("Cutoff", "CUTOFF"),
    ("Grade", "GRADE"),
    ("Gulch", "GULCH"),
    ("Overlook", "OVERLOOK"),
    ("Promenade", "PROMENADE"),
    ("Strip", "STRIP"),
    ("Turn", "TURN"),
    ("Woods", "WOODS"),
];

/// Suffixes that on their own make a street of a direction: `N St`, `East Ave`. Each with the word
/// it stands for, which is written out when a second suffix follows (Publication 28 §234).
static THOROUGHFARES: &[(&str, &str)] = &[
    ("Ave", "Avenue"),
    ("Blvd", "Boulevard"),
    ("Cir", "Circle"),
    ("Ct", "Court"),
    ("Dr", "Drive"),
    ("Expy", "Expressway"),
    ("Fwy", "Freeway"),
    ("Hwy", "Highway"),
    ("Ln", "Lane"),
    ("Pkwy", "Parkway"),
    ("Pl", "Place"),
    ("Pt", "Point"),
    ("Rd", "Road"),
    ("Sq", "Square"),
    ("St", "Street"),
    ("Ter", "Terrace"),
    ("Trl", "Trail"),
    ("Way", "Way"),
];

/// Long words whose misspelling by one letter is still read, and the suffix each stands for.
static FORGIVEN: &[(&str, &str)] = &[
    ("STREET", "St"),
    ("AVENUE", "Ave"),
    ("BOULEVARD", "Blvd"),
    ("PARKWAY", "Pkwy"),
    ("HIGHWAY", "Hwy"),
    ("TERRACE", "Ter"),
    ("TURNPIKE", "Tpke"),
    ("EXPRESSWAY", "Expy"),
    ("CRESCENT", "Cres"),
];

static BY_SPELLING: LazyLock<WordMap<&str>> = LazyLock::new(|| {
    SUFFIXES
        .iter()
        .chain(UNABBREVIATED)
        .flat_map(|(standard, spellings)| spellings.split(' ').map(move |s| (s, *standard)))
        .collect()
});

/// The standard suffix (`St`) that an upper-case word stands for, misspelled or not.
pub(crate) fn standard_suffix(word: &str) -> Option<&'static str> {
    BY_SPELLING.get(word).copied()
}

/// Every spelling, in capitals, of a standard suffix; none for an empty one.
pub(crate) fn suffix_spellings(standard: &str) -> impl Iterator<Item = &'static str> {
    let known = SUFFIXES
        .iter()
        .chain(UNABBREVIATED)
        .find(move |(suffix, _)| *suffix == standard);
    known
        .into_iter()
        .flat_map(|(_, spellings)| spellings.split(' '))
}

/// The standard suffix of a word that is one slip of the keyboard away from a long suffix.
pub(crate) fn correct_suffix_typo(word: &str) -> Option<&'static str> {
    FORGIVEN
        .iter()
        .find(|(right, _)| is_one_edit_apart(word.as_bytes(), right.as_bytes()))
        .map(|(_, standard)| *standard)
}

/// True when the word spells a suffix that makes a street of anything before it.
pub(crate) fn is_thoroughfare(word: &str) -> bool {
    // `La` is more often the Spanish article than a lane.
    word != "LA" && standard_suffix(word).and_then(spell_thoroughfare).is_some()
}

/// The word written out (`Street`) for a thoroughfare's standard suffix (`St`).
pub(crate) fn spell_thoroughfare(standard: &str) -> Option<&'static str> {
    THOROUGHFARES
        .iter()
        .find(|(short, _)| *short == standard)
        .map(|(_, long)| *long)
}

/// True when one insertion, omission, replacement or swap of neighbours makes the words equal.
pub(crate) fn is_one_edit_apart(left: &[u8], right: &[u8]) -> bool {
    if left.len().abs_diff(right.len()) > 1 {
        return false;
    }
    let same_head = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let (left, right) = (&left[same_head..], &right[same_head..]);
    let same_tail = (left.iter().rev())
        .zip(right.iter().rev())
        .take_while(|(l, r)| l == r)
        .count();
    let (left, right) = (
        &left[..left.len() - same_tail],
        &right[..right.len() - same_tail],
    );
    match (left, right) {
        ([a, b], [c, d]) => a == d && b == c,
        _ => left.len() <= 1 && right.len() <= 1,
    }
}
