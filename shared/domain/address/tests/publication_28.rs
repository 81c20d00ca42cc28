//! Publication 28 by example: each case names the section it rests on.

use address::{AddressInput, ParsedAddress, parse};

/// Section, address_1, address_2, delivery line, line above it.
type StandardizationCase = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const CASES: &[StandardizationCase] = &[
    (
        "§211 capitals and punctuation",
        "123 N. MAIN ST.,",
        "",
        "123 N Main St",
        "",
    ),
    (
        "§213 unit behind the street",
        "123 main street, apartment 4b",
        "",
        "123 Main St Apt 4B",
        "",
    ),
    (
        "§213 unit on its own line",
        "123 Main St",
        "Suite 200",
        "123 Main St Ste 200",
        "",
    ),
    (
        "§213 unit sent twice",
        "123 Main St Apt 4",
        "Apt. 4",
        "123 Main St Apt 4",
        "",
    ),
    (
        "§213 unit sent twice, once by number",
        "123 Main St #4",
        "Apt 4",
        "123 Main St Apt 4",
        "",
    ),
    (
        "§213 unit before the street",
        "Apt 4, 123 Main St",
        "",
        "123 Main St Apt 4",
        "",
    ),
    (
        "§213 sign in place of a designator",
        "123 Main St #5",
        "",
        "123 Main St # 5",
        "",
    ),
    (
        "§213 sign beside a designator",
        "123 Main St Apt #5",
        "",
        "123 Main St Apt 5",
        "",
    ),
    (
        "§213 sign before a designator",
        "123 Main St # Apt 5",
        "",
        "123 Main St Apt 5",
        "",
    ),
    (
        "§213 number without a designator",
        "123 Main St 5C",
        "",
        "123 Main St # 5C",
        "",
    ),
    (
        "§213 designator glued to its number",
        "123 Main St APT5",
        "",
        "123 Main St Apt 5",
        "",
    ),
    (
        "§213 number in two words",
        "123 Main St Apt 3 B",
        "",
        "123 Main St Apt 3B",
        "",
    ),
    (
        "§213 several units",
        "1400 Oak Ave Ste 5 Bldg C",
        "",
        "1400 Oak Ave Bldg C Ste 5",
        "",
    ),
    (
        "§213 floor in words",
        "219 S Dearborn St, Second Floor",
        "",
        "219 S Dearborn St Fl 2",
        "",
    ),
    (
        "§213 floor by ordinal",
        "10 W 35th St 15th Floor",
        "",
        "10 W 35th St Fl 15",
        "",
    ),
    (
        "§213 designator that stands alone",
        "3800 S Louise Ave",
        "Rear",
        "3800 S Louise Ave Rear",
        "",
    ),
    (
        "§213 designator that is a street",
        "400 Front St",
        "",
        "400 Front St",
        "",
    ),
    (
        "§213 designator that is a street and a unit",
        "12 Pier Ave Pier 5",
        "",
        "12 Pier Ave Pier 5",
        "",
    ),
    (
        "§222 care of",
        "c/o John O'Brien",
        "123 Main St",
        "123 Main St",
        "c/o John O'Brien",
    ),
    (
        "§222 care of before the street",
        "C/O JOHN SMITH 123 MAIN ST",
        "",
        "123 Main St",
        "c/o John Smith",
    ),
    (
        "§222 attention behind the street",
        "3348 Peachtree Rd NE Attn: David Allman",
        "",
        "3348 Peachtree Rd NE",
        "Attn David Allman",
    ),
    (
        "§222 building above the street",
        "Langley Tower",
        "175 Langley Dr Ste C-4",
        "175 Langley Dr Ste C-4",
        "Langley Tower",
    ),
    (
        "§231 letter behind the number",
        "4922 B South Cornell Avenue",
        "",
        "4922B S Cornell Ave",
        "",
    ),
    (
        "§231 letter that is the street",
        "100 B Street",
        "",
        "100 B St",
        "",
    ),
    (
        "§232 numeric street",
        "3600 West 5th Ave",
        "",
        "3600 W 5th Ave",
        "",
    ),
    (
        "§232 ordinal in two words",
        "1600 16 TH ST",
        "",
        "1600 16th St",
        "",
    ),
    (
        "§232 number and ordinal in two words",
        "13021 NW 1 ST ST",
        "",
        "13021 NW 1st St",
        "",
    ),
    (
        "§233 directional in words",
        "123 Southwest Oak Street",
        "",
        "123 SW Oak St",
        "",
    ),
    (
        "§233 directional with full stops",
        "123 S.W. Oak St.",
        "",
        "123 SW Oak St",
        "",
    ),
    (
        "§233 directional in two words",
        "123 S W Oak St",
        "",
        "123 SW Oak St",
        "",
    ),
    (
        "§233 directional behind",
        "1100 Main St North East",
        "",
        "1100 Main St NE",
        "",
    ),
    (
        "§233 directional behind a comma",
        "1600 Pennsylvania Ave, NW",
        "",
        "1600 Pennsylvania Ave NW",
        "",
    ),
    (
        "§233 directional that is the name",
        "306 North Ave",
        "",
        "306 North Ave",
        "",
    ),
    (
        "§233 letter that is the name",
        "306 N Ave NW",
        "",
        "306 N Ave NW",
        "",
    ),
    (
        "§233 directional before a directional",
        "306 S West St",
        "",
        "306 S West St",
        "",
    ),
    (
        "§233 directional before the suffix",
        "101 Bay W Dr",
        "",
        "101 Bay West Dr",
        "",
    ),
    (
        "§233 opposite directionals",
        "4400 East West Highway",
        "",
        "4400 East West Hwy",
        "",
    ),
    (
        "§234 suffix in words",
        "44 Sunset Boulevard",
        "",
        "44 Sunset Blvd",
        "",
    ),
    (
        "§234 suffix misspelled as listed",
        "44 Sunset Boulv",
        "",
        "44 Sunset Blvd",
        "",
    ),
    (
        "§234 suffix misspelled otherwise",
        "44 Sunset Stret",
        "",
        "44 Sunset St",
        "",
    ),
    (
        "§234 two suffixes",
        "789 Main Ave Dr",
        "",
        "789 Main Avenue Dr",
        "",
    ),
    (
        "§234 saint is no street",
        "8 St Andrews Pl",
        "",
        "8 St Andrews Pl",
        "",
    ),
    (
        "§234 suffix as name",
        "10810 Ave. H",
        "",
        "10810 Avenue H",
        "",
    ),
    (
        "§234 suffix as name of many words",
        "1114 Ave Of The Americas",
        "",
        "1114 Avenue of the Americas",
        "",
    ),
    ("§234 no suffix", "1585 broadway", "", "1585 Broadway", ""),
    ("§235 grid", "842 E 1700 S", "", "842 E 1700 S", ""),
    (
        "§235 grid in words",
        "239 South 500 East",
        "",
        "239 S 500 E",
        "",
    ),
    ("§238 psc box", "PSC 802 Box 74", "", "PSC 802 Box 74", ""),
    (
        "§238 cmr box",
        "cmr 411, box 3568",
        "",
        "CMR 411 Box 3568",
        "",
    ),
    (
        "§238 unit box",
        "UNIT 2050 BOX 4190",
        "",
        "Unit 2050 Box 4190",
        "",
    ),
    (
        "§241 rural route",
        "Rural Route 2, Box 18",
        "",
        "RR 2 Box 18",
        "",
    ),
    (
        "§241 rural free delivery",
        "R.F.D. #3 Box 9",
        "",
        "RR 3 Box 9",
        "",
    ),
    (
        "§241 rural route glued",
        "RR2 BOX 348",
        "",
        "RR 2 Box 348",
        "",
    ),
    ("§241 route", "RT 1 BOX 81", "", "RR 1 Box 81", ""),
    (
        "§241 route without its number",
        "RR Box 25",
        "",
        "RR Box 25",
        "",
    ),
    (
        "§243 sign in place of box",
        "RR 2 #152",
        "",
        "RR 2 Box 152",
        "",
    ),
    (
        "§243 sign on the second line",
        "RR 2",
        "#152",
        "RR 2 Box 152",
        "",
    ),
    (
        "§243 letter behind the box",
        "rr 4, box 164 a",
        "",
        "RR 4 Box 164A",
        "",
    ),
    ("§244 leading zero", "RR 03 Box 98D", "", "RR 3 Box 98D", ""),
    (
        "§245 words behind the route",
        "RR 2 Box 18, Bryan Dairy Rd",
        "",
        "RR 2 Box 18",
        "Bryan Dairy Rd",
    ),
    (
        "§251 highway contract",
        "Highway Contract Route 68 Box 23A",
        "",
        "HC 68 Box 23A",
        "",
    ),
    (
        "§253 star route",
        "STAR ROUTE 2 BOX 19",
        "",
        "HC 2 Box 19",
        "",
    ),
    (
        "§261 general delivery",
        "Gen. Delivery",
        "",
        "General Delivery",
        "",
    ),
    (
        "§281 po box with full stops",
        "P.O.Box 370022",
        "",
        "PO Box 370022",
        "",
    ),
    (
        "§281 po box in words",
        "Post Office Box #12",
        "",
        "PO Box 12",
        "",
    ),
    ("§281 po box in letters", "POB 477", "", "PO Box 477", ""),
    ("§281 box alone", "Box 63", "", "PO Box 63", ""),
    ("§281 drawer", "Drawer 1256", "", "PO Box 1256", ""),
    (
        "§29 number behind the street",
        "Calle Luna 12, Apt 4",
        "",
        "12 Calle Luna Apt 4",
        "",
    ),
    (
        "§29 number with a sign behind the street",
        "CALLE AMAPOLA # 12",
        "",
        "12 Calle Amapola",
        "",
    ),
    (
        "§233.2 directional in two words",
        "972 Donnelly Ave., S. W. # 2",
        "",
        "972 Donnelly Ave SW # 2",
        "",
    ),
    (
        "§234 ending without an abbreviation",
        "1089 SUNSET STRIP",
        "",
        "1089 Sunset Strip",
        "",
    ),
    ("§281 caller", "Caller 99", "", "PO Box 99", ""),
    (
        "§282 street and box",
        "115 Harting Road",
        "PO Box 5",
        "PO Box 5",
        "115 Harting Rd",
    ),
    (
        "§282 street and box on one line",
        "216 N. Pine P. O. Box 318",
        "",
        "PO Box 318",
        "216 N Pine",
    ),
    (
        "§284 private mailbox",
        "3520 Okemos Rd PMB 175",
        "",
        "3520 Okemos Rd PMB 175",
        "",
    ),
    (
        "§285 private mailbox in a suite",
        "3520 Okemos Rd PMB 175 Ste 6",
        "",
        "3520 Okemos Rd Ste 6 PMB 175",
        "",
    ),
    (
        "§293 urbanization before the street",
        "Urb Las Gladiolas 150 Calle A",
        "",
        "150 Calle A",
        "Urb Las Gladiolas",
    ),
    (
        "§293 urbanization behind the street",
        "150 Calle A",
        "URB. LAS GLADIOLAS",
        "150 Calle A",
        "Urb Las Gladiolas",
    ),
    ("App. D1 fraction", "9 ½ Main St", "", "9 1/2 Main St", ""),
    (
        "App. D1 hyphen",
        "112-10 69th Road",
        "",
        "112-10 69th Rd",
        "",
    ),
    (
        "App. D1 grid number",
        "n6w23001 Bluemound Rd",
        "",
        "N6W23001 Bluemound Rd",
        "",
    ),
    (
        "App. D1 grid number in two words",
        "W148 N9748 Tree Tops Dr",
        "",
        "W148N9748 Tree Tops Dr",
        "",
    ),
    (
        "App. F county highway",
        "4 County Hwy 140",
        "",
        "4 County Highway 140",
        "",
    ),
    (
        "App. F county road",
        "4 CR 1185",
        "",
        "4 County Road 1185",
        "",
    ),
    (
        "App. F county road in short",
        "4 Cnty Rd 441",
        "",
        "4 County Road 441",
        "",
    ),
    (
        "App. F farm to market",
        "5 Farm to Market Rd 1200",
        "",
        "5 FM 1200",
        "",
    ),
    ("App. F highway", "5 HWY 101", "", "5 Highway 101", ""),
    (
        "App. F highway and bypass",
        "5 Hwy 11 Bypass",
        "",
        "5 Highway 11 Byp",
        "",
    ),
    (
        "App. F frontage road",
        "5 Hwy 66 Frontage Road",
        "",
        "5 Highway 66 Frontage Rd",
        "",
    ),
    (
        "App. F interstate",
        "11745 I-10 W",
        "",
        "11745 Interstate 10 W",
        "",
    ),
    (
        "App. F interstate glued",
        "5 IH280",
        "",
        "5 Interstate 280",
        "",
    ),
    (
        "App. F highway of a state",
        "5 Kentucky Hwy 189",
        "",
        "5 KY Highway 189",
        "",
    ),
    (
        "App. F highway of a state by number",
        "5 KY 1207",
        "",
        "5 KY Highway 1207",
        "",
    ),
    ("App. F loop", "830 NW Loop 410", "", "830 NW Loop 410", ""),
    (
        "App. F ranch road",
        "5 Ranch Rd 620",
        "",
        "5 Ranch Road 620",
        "",
    ),
    ("App. F route", "5 Rte 95", "", "5 Route 95", ""),
    (
        "App. F state highway",
        "5 State Hwy 60",
        "",
        "5 State Highway 60",
        "",
    ),
    ("App. F state road", "5 SR 220", "", "5 State Road 220", ""),
    (
        "App. F state route",
        "5 St Rt 175",
        "",
        "5 State Route 175",
        "",
    ),
    (
        "App. F township road",
        "5 TSR 45",
        "",
        "5 Township Road 45",
        "",
    ),
    (
        "App. F national highway",
        "5 US 41 SW",
        "",
        "5 US Highway 41 SW",
        "",
    ),
    (
        "App. F national highway and unit",
        "135 W Old US Highway 90 Lot 5",
        "",
        "135 W Old US Highway 90 Lot 5",
        "",
    ),
    (
        "§213 letters for a unit",
        "4810 Crystal Lake Rd, Unit C-D",
        "",
        "4810 Crystal Lake Rd Unit C-D",
        "",
    ),
    (
        "§213 number in two words, one a directional",
        "1160 S Plymouth # 1 SW",
        "",
        "1160 S Plymouth # 1SW",
        "",
    ),
    (
        "§213 floor by number",
        "47 S Meridian St 2 Floor",
        "",
        "47 S Meridian St Fl 2",
        "",
    ),
    (
        "§213 nothing on the second line",
        "123 Main St",
        "N/A",
        "123 Main St",
        "",
    ),
    (
        "§222 building behind the street",
        "1950 N Campbell Ave Logan Square",
        "",
        "1950 N Campbell Ave",
        "Logan Square",
    ),
    (
        "§238 ship",
        "USS NIMITZ BOX 12",
        "",
        "USS Nimitz Box 12",
        "",
    ),
    (
        "§238 ship without a box",
        "USCGC Hamilton",
        "",
        "USCGC Hamilton",
        "",
    ),
    (
        "§238 official mail center",
        "omc box 34",
        "",
        "OMC Box 34",
        "",
    ),
    (
        "§29 block and lot",
        "C-12 CALLE 4",
        "Urb Villa Fontana",
        "C-12 Calle 4",
        "Urb Villa Fontana",
    ),
    (
        "§29 block and lot behind the street",
        "Calle 4 C-12",
        "",
        "C-12 Calle 4",
        "",
    ),
    (
        "§29 number behind the street without a comma",
        "Calle Sol 63",
        "",
        "63 Calle Sol",
        "",
    ),
    (
        "§29 kilometres",
        "CARR 2, KM 11.4",
        "",
        "Carr 2 Km 11.4",
        "",
    ),
    (
        "§29 kilometres before the road",
        "Km 11.4 Carr 2",
        "",
        "Carr 2 Km 11.4",
        "",
    ),
    (
        "§29 kilometres and hectometres",
        "PR-2 Km. 11 Hm. 4",
        "",
        "Carr 2 Km 11.4",
        "",
    ),
    (
        "§29 kilometres behind a quarter",
        "Bo Sabana, Carr 2 Km 5",
        "",
        "Carr 2 Km 5",
        "Bo Sabana",
    ),
    (
        "§29 condominium on a street",
        "Cond Astral, 1280 Ave Ashford Apt 4",
        "",
        "1280 Ave Ashford Apt 4",
        "Cond Astral",
    ),
    (
        "§29 condominium",
        "Condominio Astral Apto 4",
        "",
        "Cond Astral Apt 4",
        "",
    ),
    (
        "§29 public housing",
        "Res Las Flores Edif 3 Apt 4",
        "",
        "Res Las Flores Bldg 3 Apt 4",
        "",
    ),
    (
        "§293 urbanization on the same line",
        "H22 Calle 5 Urb Villa Verde",
        "",
        "H22 Calle 5",
        "Urb Villa Verde",
    ),
    (
        "App. F ranch road in letters",
        "12 RR 620",
        "",
        "12 Ranch Road 620",
        "",
    ),
    (
        "App. F ranch road, directional, unit",
        "12345 RR 620 N Ste 5",
        "",
        "12345 Ranch Road 620 N Ste 5",
        "",
    ),
    (
        "App. F farm road",
        "12 Farm Rd 1325",
        "",
        "12 Farm Road 1325",
        "",
    ),
    (
        "App. F farm road without a number",
        "12 Farm Rd # 5",
        "",
        "12 Farm Rd # 5",
        "",
    ),
    (
        "App. F interstate in letters",
        "12 I H 35",
        "",
        "12 Interstate 35",
        "",
    ),
    (
        "App. F county road by letter",
        "12 County Road K",
        "",
        "12 County Road K",
        "",
    ),
    (
        "App. F state route and unit",
        "20825 State Route 410 E 216",
        "",
        "20825 State Route 410 E # 216",
        "",
    ),
    ("pier", "Pier 39", "Ste 2", "Pier 39 Ste 2", ""),
    (
        "letters without an accented form",
        "12 Søndre Straße",
        "",
        "12 Sondre Strasse",
        "",
    ),
    ("accents", "12 Cañón Rd", "", "12 Canon Rd", ""),
    ("mixed case", "12 MCDONALD AVE", "", "12 McDonald Ave", ""),
    (
        "mixed case as sent",
        "440 S LaSalle St",
        "",
        "440 S LaSalle St",
        "",
    ),
];

fn parse_in_austin(address_1: &str, address_2: &str) -> ParsedAddress {
    parse(AddressInput {
        address_1,
        address_2,
        city: "Austin",
        state: "TX",
        zip: "78701",
    })
}

#[test]
fn every_case_takes_its_standard_form() {
    let failures: Vec<String> = CASES
        .iter()
        .filter_map(|(section, address_1, address_2, line1, line2)| {
            let parsed = parse_in_austin(address_1, address_2);
            ((parsed.line1.as_str(), parsed.line2.as_str()) != (line1, line2)).then(|| {
                format!(
                    "{section}: {address_1:?} {address_2:?} gave {:?} {:?}",
                    parsed.line1, parsed.line2
                )
            })
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_standard_form_stays_as_it_is() {
    let failures: Vec<String> = CASES
        .iter()
        .filter_map(|(section, _, _, line1, line2)| {
            let again = parse_in_austin(line1, line2);
            ((again.line1.as_str(), again.line2.as_str()) != (line1, line2)).then(|| {
                format!(
                    "{section}: {line1:?} {line2:?} gave {:?} {:?}",
                    again.line1, again.line2
                )
            })
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_parts_of_a_street_address_are_told_apart() {
    let parsed = parse_in_austin("123-A South West Oak Hill Road NE Apt 4", "");
    let parts = [
        parsed.number.as_str(),
        &parsed.predirectional,
        &parsed.street,
        &parsed.suffix,
        &parsed.postdirectional,
        &parsed.unit_designator,
        &parsed.unit,
    ];
    assert_eq!(parts, ["123-A", "SW", "Oak Hill", "Rd", "NE", "Apt", "4"]);
}

#[test]
fn the_parts_of_a_route_and_of_a_box_are_told_apart() {
    let route = parse_in_austin("RR 2 Box 18", "");
    assert_eq!(
        (route.rural_route.as_str(), route.box_number.as_str()),
        ("RR 2", "18")
    );
    let dual = parse_in_austin("115 Harting Rd", "PO Box 5");
    assert_eq!(
        (
            dual.po_box.as_str(),
            dual.number.as_str(),
            dual.street.as_str()
        ),
        ("5", "115", "Harting")
    );
}

#[test]
fn of_two_addresses_one_prints_and_the_other_stands_above_it() {
    for (address_1, address_2, line1, line2) in [
        (
            "1000 Cathedral Pl 925 W Georgia St",
            "",
            "925 W Georgia St",
            "1000 Cathedral Pl",
        ),
        // One address: the second number is the road's.
        ("1 La 1700 Main St", "", "1 LA Highway 1700 Main St", ""),
        (
            "1 LA Highway 1700 Main St",
            "",
            "1 LA Highway 1700 Main St",
            "",
        ),
        (
            "10 1/2 La 1700 Main St",
            "",
            "10 1/2 LA Highway 1700 Main St",
            "",
        ),
        (
            "10 1/2 LA Highway 1700 Main St",
            "",
            "10 1/2 LA Highway 1700 Main St",
            "",
        ),
        (
            "10A LA Highway 1700 Main St",
            "",
            "10A LA Highway 1700 Main St",
            "",
        ),
        (
            "10-12 LA Highway 1700 Main St",
            "",
            "10-12 LA Highway 1700 Main St",
            "",
        ),
        (
            "10 N LA Highway 1700 Main St",
            "",
            "10 N LA Highway 1700 Main St",
            "",
        ),
        (
            "10 1/2 SW LA Highway 1700 Main St",
            "",
            "10 1/2 SW LA Highway 1700 Main St",
            "",
        ),
        (
            "30 Allen Plz, Ste 700, 30 Ivan Allen Jr Blvd",
            "",
            "30 Ivan Allen Jr Blvd Ste 700",
            "30 Allen Plz",
        ),
        ("RR 2 Box 18", "PO Box 5", "PO Box 5", "RR 2 Box 18"),
        ("RR 2 Box 18, PO Box 5", "", "PO Box 5", "RR 2 Box 18"),
        ("115 Harting Rd", "PO Box 5", "PO Box 5", "115 Harting Rd"),
    ] {
        let read = parse_in_austin(address_1, address_2);
        assert_eq!(
            (read.line1.as_str(), read.line2.as_str()),
            (line1, line2),
            "{address_1}"
        );
        let again = parse_in_austin(&read.line1, &read.line2);
        assert_eq!(
            (again.line1, again.line2),
            (read.line1, read.line2),
            "{address_1}, read again"
        );
    }
}

#[test]
fn a_state_before_its_city_and_a_country_sent_twice_are_read() {
    let turned = address::parse_one_line("4674 Marshall Rd CA Garden Valley 95633-9306");
    assert_eq!(
        turned.one_line,
        "4674 Marshall Rd, Garden Valley, CA 95633-9306"
    );
    // The suffix of the street, not Connecticut.
    let court = address::parse_one_line("12 Elm Ct Hartford 06103");
    assert_eq!(
        (court.line1.as_str(), court.state.as_str()),
        ("12 Elm Ct", "")
    );
    let twice =
        address::parse_one_line("110 Crossways Park Dr, Woodbury. NY 11797 United States US");
    assert_eq!(twice.one_line, "110 Crossways Park Dr, Woodbury, NY 11797");
}
