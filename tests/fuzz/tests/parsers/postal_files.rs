//! Files of the post's scans.

use fuzz::Target;
use postal::{LINE_BYTES, PostalFileReader, ScanMapping, TrackingCode};
use proptest::{prop_assert, prop_assert_eq};

const FILES: [&str; 5] = [
    "imb,scan_event_code,scan_datetime,scan_facility_zip\n\
     0031012345600000004278701,919,2026-11-21 10:00:00,78710\n\
     \"00-310-123456-000000043\",\"892\",11/21/2026 10:00:00 PM,\n",
    "IMb|Op Code|Scan Date Time|Facility ZIP\r\n00310901234567000042|918|2026-11-21T10:00:00-06:00|00501\r\n",
    "78710,919,20261121100000,78701123401,00310123456000000042\n78710,1,x,,\n",
    r#"{"data":[{"imb":"00310123456000000042","scanEventCode":919,"scanDatetime":"2026-11-21T10:00:00Z"},{"imb":1}]}"#,
    "{\"imb\":\"00310123456000000042\",\"scan_event_code\":\"RTS\",\"scan_datetime\":\"2026-03-08 02:30:00\"}\n{\"imb\"\n",
];

const WORDS: [&str; 16] = [
    "\n",
    "\r\n",
    "\"",
    ",",
    "|",
    "{",
    "}",
    "[",
    "]",
    ":",
    "\\",
    "\u{feff}",
    "99999",
    "00501",
    "é",
    "2026-11-01 01:30:00",
];

#[test]
fn fuzz_postal_file() {
    let rules = ScanMapping::default().to_rules().unwrap();
    Target::new(FILES).words(WORDS).cases(4_000).run(|bytes| {
        let Ok(mut reader) = PostalFileReader::new(bytes, rules.clone()) else {
            return Ok(());
        };
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let (mut rows, mut last_line) = (0, 0);
        while let Some(row) = reader.next_row().unwrap() {
            rows += 1;
            // Every row stands somewhere, and none is made of nothing.
            prop_assert!(row.line >= last_line && row.line <= lines, "{}", row.line);
            last_line = row.line;
            prop_assert!(rows <= bytes.len() as u64 + 1);
            if let Ok(scan) = row.outcome {
                let again = TrackingCode::parse(scan.tracking.as_str());
                prop_assert_eq!(again.as_ref(), Some(&scan.tracking));
                prop_assert_eq!(scan.event_id(), scan.event_id());
                prop_assert!(scan.describe_operation().len() < 200);
            }
        }
        // What is skipped is what would have been read.
        let mut reader = PostalFileReader::new(bytes, rules.clone()).unwrap();
        let mut skipped = 0;
        while reader.skip_row().unwrap() {
            skipped += 1;
        }
        prop_assert_eq!(skipped, rows);
        prop_assert!(bytes.len() < LINE_BYTES * 100);
        Ok(())
    });
}
