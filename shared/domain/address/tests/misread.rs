//! Addresses that were once misread: each class with the kinds of it that senders write.

use address::{AddressInput, ParsedAddress, parse, parse_one_line};

/// address_1, address_2, delivery line, line above it.
type MisreadCase = (&'static str, &'static str, &'static str, &'static str);

const CLASSES: &[(&str, &[MisreadCase])] = &[
    (
        "highway contract route in letters",
        &[
            ("HC R 32 Box # e3", "", "HC 32 Box E3", ""),
            ("H C R 4 Box 12", "", "HC 4 Box 12", ""),
            ("H.C.R. 5 Box No. 8", "", "HC 5 Box 8", ""),
            ("HC R32 Box # 7a", "", "HC 32 Box 7A", ""),
            ("R R # 2 Box # c9", "", "RR 2 Box C9", ""),
            ("RR No 3 Box # 14", "", "RR 3 Box 14", ""),
            ("R.D. No. 1 Box # a12", "", "RR 1 Box A12", ""),
            ("HC Route # 9 Box 77", "", "HC 9 Box 77", ""),
        ],
    ),
    (
        "rural route named twice",
        &[
            ("RFD Route 4 #87A", "", "RR 4 Box 87A", ""),
            ("R.F.D. Route 2 Box 9", "", "RR 2 Box 9", ""),
            ("RFD Rt 3 Box 8", "", "RR 3 Box 8", ""),
            ("RFD Rte # 4 Box 5", "", "RR 4 Box 5", ""),
            ("RR Route 6 Box 31", "", "RR 6 Box 31", ""),
            ("Rural Delivery Route 1 Box 44", "", "RR 1 Box 44", ""),
            ("Rural Free Delivery 5 Box 2", "", "RR 5 Box 2", ""),
        ],
    ),
    (
        "business whose name begins with a number",
        &[
            (
                "7 Eleven Store 1234",
                "500 Oak Ave",
                "500 Oak Ave",
                "7 Eleven Store 1234",
            ),
            (
                "7-Eleven 1234",
                "500 Oak Ave",
                "500 Oak Ave",
                "7-Eleven 1234",
            ),
            (
                "24 Hour Fitness",
                "12 N Main St Ste 5",
                "12 N Main St Ste 5",
                "24 Hour Fitness",
            ),
            (
                "84 Lumber Company 310",
                "4100 County Road 12",
                "4100 County Road 12",
                "84 Lumber Company 310",
            ),
            (
                "3 Brothers Pizza",
                "77 Elm Street",
                "77 Elm St",
                "3 Brothers Pizza",
            ),
            (
                "99 Cents Only Store, 8625 Wilshire Blvd",
                "",
                "8625 Wilshire Blvd",
                "99 Cents Only Store",
            ),
            (
                "5 Guys Burgers, 200 SW Market St",
                "",
                "200 SW Market St",
                "5 Guys Burgers",
            ),
            ("100 W 57th", "500 Oak Ave", "100 W 57th", "500 Oak Ave"),
            (
                "1585 Broadway",
                "500 Oak Ave",
                "1585 Broadway",
                "500 Oak Ave",
            ),
            (
                "12 State Route 9",
                "500 Oak Ave",
                "12 State Route 9",
                "500 Oak Ave",
            ),
        ],
    ),
    (
        "route without a box beside a street",
        &[
            ("720 S Western Ave", "RR 3", "720 S Western Ave", "RR 3"),
            ("720 S Western Ave, RR 3", "", "720 S Western Ave", "RR 3"),
            (
                "Rural Route 2",
                "14 Mill Pond Rd",
                "14 Mill Pond Rd",
                "RR 2",
            ),
            (
                "RFD 1, 88 Quarry Hill Rd Apt 2",
                "",
                "88 Quarry Hill Rd Apt 2",
                "RR 1",
            ),
            (
                "5120 State Highway 60",
                "HC 7",
                "5120 State Highway 60",
                "HC 7",
            ),
            ("9 Elm St", "R.R. #4", "9 Elm St", "RR 4"),
            (
                "720 S Western Ave",
                "RR 3 Box 5",
                "RR 3 Box 5",
                "720 S Western Ave",
            ),
            (
                "720 S Western Ave",
                "RR 3 #5",
                "RR 3 Box 5",
                "720 S Western Ave",
            ),
        ],
    ),
    (
        "street of one letter before a unit",
        &[
            ("300 H Apt: 111", "", "300 H Apt 111", ""),
            ("412 K Ste 5", "", "412 K Ste 5", ""),
            ("1500 Q Unit 3", "", "1500 Q Unit 3", ""),
            ("77 J # 4", "", "77 J # 4", ""),
            ("905 G, Apt 2", "", "905 G Apt 2", ""),
            ("660 B Bldg 7", "", "660 B Bldg 7", ""),
            ("1200 L Suite 900", "", "1200 L Ste 900", ""),
        ],
    ),
    (
        "house number in words",
        &[
            ("One Twenty-Five High Street", "", "125 High St", ""),
            ("Ten Downing Street", "", "10 Downing St", ""),
            ("One Hundred Federal Street", "", "100 Federal St", ""),
            ("Twenty-Two Elm St", "", "22 Elm St", ""),
            ("Five Fifty Main Street", "", "550 Main St", ""),
            ("Ninety Nine Summer St", "", "99 Summer St", ""),
            ("Seven Hundred Fifty 3rd Ave", "", "750 3rd Ave", ""),
            ("Fifteen Hundred Main St", "", "1500 Main St", ""),
            ("Two Thousand and Ten Oak Ave", "", "2010 Oak Ave", ""),
            ("Twenty Twenty K St NW", "", "2020 K St NW", ""),
            ("Eleven Wall Street, Suite 4", "", "11 Wall St Ste 4", ""),
            (
                "Acme Tower, Sixty Wall Street",
                "",
                "60 Wall St",
                "Acme Tower",
            ),
            ("Two Twelve Oaks Ln", "", "2 Twelve Oaks Ln", ""),
            (
                "One Liberty Plaza, 165 Broadway",
                "",
                "165 Broadway",
                "One Liberty Plaza",
            ),
        ],
    ),
    (
        "directional before the house number",
        &[
            ("E 613 Mitchell Ave", "", "613 E Mitchell Ave", ""),
            ("N 4102 Oak Street", "", "4102 N Oak St", ""),
            ("South 210 Grand Avenue", "", "210 S Grand Ave", ""),
            ("W. 1523 Mission Ave", "", "1523 W Mission Ave", ""),
            ("NE 1215 Elm St Apt 3", "", "1215 NE Elm St Apt 3", ""),
            ("West 1818 Francis Avenue", "", "1818 W Francis Ave", ""),
        ],
    ),
    (
        "hyphen with spaces in the house number",
        &[
            ("147 - 25 Sanford Ave", "", "147-25 Sanford Ave", ""),
            ("112 -10 69th Road", "", "112-10 69th Rd", ""),
            ("45- 17 21st St", "", "45-17 21st St", ""),
            ("86 – 02 Park Lane South", "", "86-02 Park Ln S", ""),
            (
                "30 - 30 Thomson Ave, Apt 2",
                "",
                "30-30 Thomson Ave Apt 2",
                "",
            ),
            ("94 - 1234 Waipio St", "", "94-1234 Waipio St", ""),
            ("Apt 4 - 12 Main St", "", "12 Main St Apt 4", ""),
            ("12 Main St - 5B", "", "12 Main St # 5B", ""),
        ],
    ),
    (
        "road that is business, bypass or alternate",
        &[
            ("83 Business 15", "", "83 Business 15", ""),
            ("1200 Business 45 N", "", "1200 Business 45 N", ""),
            ("500 Business Loop 70 W", "", "500 Business Loop 70 W", ""),
            ("12 Bypass 98", "", "12 Bypass 98", ""),
            ("77 Alternate 19 S", "", "77 Alternate 19 S", ""),
            ("640 Bus 220 Apt 4", "", "640 Business 220 Apt 4", ""),
            ("31 Alt 19", "", "31 Alternate 19", ""),
            ("2020 Spur 54", "", "2020 Spur 54", ""),
            ("9 Business Park Dr", "", "9 Business Park Dr", ""),
        ],
    ),
    (
        "county road by letters",
        &[
            ("7575 County Road ZZZ", "", "7575 County Road ZZZ", ""),
            ("410 County Hwy KKK", "", "410 County Highway KKK", ""),
            ("W3210 Cty Rd BBB", "", "W3210 County Road BBB", ""),
            ("88 CR TTT", "", "88 County Road TTT", ""),
            (
                "12 County Highway JJJ Apt 2",
                "",
                "12 County Highway JJJ Apt 2",
                "",
            ),
            (
                "500 County Road PP, Lot 7",
                "",
                "500 County Road PP Lot 7",
                "",
            ),
            ("6 County Trunk Hwy EE", "", "6 County Highway EE", ""),
        ],
    ),
    (
        "private road",
        &[
            ("519 PR 462", "", "519 Private Road 462", ""),
            ("12 Private Rd 8020", "", "12 Private Road 8020", ""),
            ("77 Pvt Rd 1134", "", "77 Private Road 1134", ""),
            ("4410 P R 3005", "", "4410 Private Road 3005", ""),
            ("9 PR-462 Unit B", "", "9 Private Road 462 Unit B", ""),
            ("230 N PR 4732", "", "230 N Private Road 4732", ""),
            (
                "230 Private Road 4732 Apt 4",
                "",
                "230 Private Road 4732 Apt 4",
                "",
            ),
        ],
    ),
    (
        "comma behind the directional",
        &[
            ("123 N, Main St", "", "123 N Main St", ""),
            ("456 SW, Oak Ave", "", "456 SW Oak Ave", ""),
            ("12, E, Elm St", "", "12 E Elm St", ""),
            ("77 North, Park Ave, Apt 4", "", "77 N Park Ave Apt 4", ""),
            ("500 S., Broadway", "", "500 S Broadway", ""),
            ("842 E, 1700 S", "", "842 E 1700 S", ""),
        ],
    ),
    (
        "name glued to the house number",
        &[
            ("123Main St", "", "123 Main St", ""),
            ("42Elm Ave", "", "42 Elm Ave", ""),
            (
                "1600Pennsylvania Ave NW",
                "",
                "1600 Pennsylvania Ave NW",
                "",
            ),
            ("7Oak Hill Rd", "", "7 Oak Hill Rd", ""),
            ("88LAKE SHORE DR", "", "88 Lake Shore Dr", ""),
            ("1585Broadway", "", "1585 Broadway", ""),
            ("123A Main St", "", "123A Main St", ""),
            ("42nd St", "", "42nd St", ""),
        ],
    ),
    (
        "type behind the number of a highway",
        &[
            ("742 US 93 Hwy", "", "742 US Highway 93", ""),
            ("742 US 93 Highway N", "", "742 US Highway 93 N", ""),
            ("12 State 60 Hwy", "", "12 State Highway 60", ""),
            ("55 County 12 Rd", "", "55 County Road 12", ""),
            ("900 US Highway 41 Hwy", "", "900 US Highway 41", ""),
            ("18 KY 1207 Hwy", "", "18 KY Highway 1207", ""),
            ("31 Hwy 101 Highway", "", "31 Highway 101", ""),
            ("31 State 9 Rte Apt 2", "", "31 State Route 9 Apt 2", ""),
        ],
    ),
    (
        "building behind a directional",
        &[
            (
                "2908 Bryant Ave S Uptown Square",
                "",
                "2908 Bryant Ave S",
                "Uptown Square",
            ),
            (
                "410 3rd Ave N Market Plaza",
                "",
                "410 3rd Ave N",
                "Market Plaza",
            ),
            (
                "88 Oak Dr SE Garden Commons",
                "",
                "88 Oak Dr SE",
                "Garden Commons",
            ),
            (
                "12 Hill Rd NW Summit Center",
                "",
                "12 Hill Rd NW",
                "Summit Center",
            ),
            (
                "1501 Lake St W Calhoun Village",
                "",
                "1501 Lake St W",
                "Calhoun Village",
            ),
            (
                "600 Nicollet Blvd South Orchard Gardens",
                "",
                "600 Nicollet Blvd S",
                "Orchard Gardens",
            ),
        ],
    ),
    (
        "post office box",
        &[
            ("P.OBox 884", "", "PO Box 884", ""),
            ("PO.Box 12", "", "PO Box 12", ""),
            ("POBox884", "", "PO Box 884", ""),
            ("P.O.Box#9", "", "PO Box 9", ""),
            ("P O Box884", "", "PO Box 884", ""),
            ("P.O Box 31", "", "PO Box 31", ""),
            ("PO-Box 12", "", "PO Box 12", ""),
            ("Post Office Box77", "", "PO Box 77", ""),
            ("P.O.B. 55", "", "PO Box 55", ""),
        ],
    ),
    (
        "caller",
        &[
            ("Caller Service 1234", "", "PO Box 1234", ""),
            ("Caller Box 77", "", "PO Box 77", ""),
            ("Caller No. 5", "", "PO Box 5", ""),
            ("Caller Svc # 9", "", "PO Box 9", ""),
            ("PO Caller Service 21", "", "PO Box 21", ""),
            ("Lock Drawer 8", "", "PO Box 8", ""),
        ],
    ),
    (
        "short word for a unit",
        &[
            ("12 Oak St Un 282", "", "12 Oak St Unit 282", ""),
            ("500 W 5th Ave UN 3B", "", "500 W 5th Ave Unit 3B", ""),
            ("9 Elm Dr N Un 7", "", "9 Elm Dr N Unit 7", ""),
            ("12 Main St, Un 4", "", "12 Main St Unit 4", ""),
            ("12 Main St", "Un 4", "12 Main St Unit 4", ""),
            ("12 Union St # 4", "", "12 Union St # 4", ""),
        ],
    ),
    (
        "house number on a line of its own",
        &[
            ("123", "Main St", "123 Main St", ""),
            ("4B", "Elm Street Apt 2", "4B Elm St Apt 2", ""),
            ("112-10", "69th Road", "112-10 69th Rd", ""),
            ("123,", "N Main St", "123 N Main St", ""),
            ("9 1/2", "Oak Ave", "9 1/2 Oak Ave", ""),
            ("500", "US Hwy 41", "500 US Highway 41", ""),
            ("77", "Broadway", "77 Broadway", ""),
        ],
    ),
];

fn parse_in(address_1: &str, address_2: &str, [city, state, zip]: [&str; 3]) -> ParsedAddress {
    parse(AddressInput {
        address_1,
        address_2,
        city,
        state,
        zip,
    })
}

const AUSTIN: [&str; 3] = ["Austin", "TX", "78701"];

/// What is read otherwise than it should be.
fn misread(lines: impl Fn(&MisreadCase) -> (&'static str, &'static str)) -> Vec<String> {
    let cases = CLASSES
        .iter()
        .flat_map(|(class, cases)| cases.iter().map(move |case| (class, case)));
    cases
        .filter_map(|(class, case)| {
            let (address_1, address_2) = lines(case);
            let read = parse_in(address_1, address_2, AUSTIN);
            ((read.line1.as_str(), read.line2.as_str()) != (case.2, case.3)).then(|| {
                format!(
                    "{class}: {address_1:?} {address_2:?} gave {:?} {:?}",
                    read.line1, read.line2
                )
            })
        })
        .collect()
}

#[test]
fn every_kind_of_a_class_is_read() {
    let failures = misread(|case| (case.0, case.1));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_was_read_of_a_class_stays_as_it_is() {
    let failures = misread(|case| (case.2, case.3));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_directional_behind_the_comma_is_the_citys() {
    for (text, line1, city) in [
        (
            "12855 6TH AVE, N. MIAMI, FL 33161",
            "12855 6th Ave",
            "North Miami",
        ),
        (
            "100 Main St, E. Lansing, MI 48823",
            "100 Main St",
            "East Lansing",
        ),
        (
            "5 Oak Ave, W HOLLYWOOD, CA 90069",
            "5 Oak Ave",
            "West Hollywood",
        ),
        (
            "77 Grand Ave, S. San Francisco, CA 94080",
            "77 Grand Ave",
            "South San Francisco",
        ),
        (
            "1 Elm St, N. Las Vegas, NV 89030",
            "1 Elm St",
            "North Las Vegas",
        ),
        (
            "9 Pine St N, W. Hartford CT 06107",
            "9 Pine St N",
            "West Hartford",
        ),
        // No city's name begins with such a directional.
        (
            "1105 Bolton Road, NW Atlanta, GA 30331",
            "1105 Bolton Rd NW",
            "Atlanta",
        ),
        (
            "1105 Bolton Rd, N.W., Atlanta, GA 30331",
            "1105 Bolton Rd NW",
            "Atlanta",
        ),
    ] {
        let read = parse_one_line(text);
        assert_eq!(
            (read.line1.as_str(), read.city.as_str()),
            (line1, city),
            "{text}"
        );
    }
}

#[test]
fn a_state_and_its_zip_in_one_word_are_parted() {
    for text in [
        "123 Main St, Austin, TX78701",
        "123 Main St, Austin TX78701-1234",
        "123 Main St, Austin, TX-78701",
        "123 Main St Austin tx787011234",
    ] {
        let read = parse_one_line(text);
        let parts = [&read.line1, &read.city, &read.state, &read.zip];
        assert_eq!(parts, ["123 Main St", "Austin", "TX", "78701"], "{text}");
    }
    for last_line in [
        ["Austin", "TX78701", ""],
        ["Austin", "", "TX78701"],
        ["Austin", "TX", "TX78701-1234"],
        ["Austin", "Texas 78701", ""],
        ["Austin", "TX", "TX 78701"],
        ["Austin", "TX78701", "78701"],
        ["Austin, TX78701", "", ""],
        ["Austin TX 78701", "", ""],
    ] {
        let read = parse_in("123 Main St", "", last_line);
        let parts = [&read.city, &read.state, &read.zip];
        assert_eq!(parts, ["Austin", "TX", "78701"], "{last_line:?}");
    }
    // Two states are a contradiction, which verification tells.
    let read = parse_in("123 Main St", "", ["Austin", "OK", "TX78701"]);
    assert_eq!((read.state.as_str(), read.zip.as_str()), ("OK", "78701"));
}
