//! Which print run a tracking code is of.
//!
//! A mailer's serial numbers are counted without end and a barcode carries their last digits, so they come again: 45 days, at the
//! least, after the last mailpiece that had them can have been mailed.

use std::collections::HashMap;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use uuid::Uuid;

use crate::tracking::TrackingCode;

/// How long before it was printed a mailpiece can be scanned, by clocks and zones that are not quite right.
const EARLY: TimeDelta = TimeDelta::hours(3);

/// How long a mailpiece is believed to be its own after its serial number may come again: some come back after months. One that
/// was printed with the number since comes first.
const LATE: Days = Days::new(90);

/// A print run whose mailpieces have barcodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailedRun {
    /// The run.
    pub run_id: Uuid,
    /// Whose serial numbers it has.
    pub mailer_id: String,
    /// That of its first mailpiece, counted without end; the others follow.
    pub first_serial: u64,
    /// Mailpieces of the run, those that were set aside among them.
    pub mailpieces: u64,
    /// When its files were there.
    pub printed_at: DateTime<Utc>,
    /// The first day on which its serial numbers may come again.
    pub serials_free_on: NaiveDate,
}

/// A mailpiece as a print run knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunPlace {
    /// The run.
    pub run_id: Uuid,
    /// Its place there, from 1.
    pub position: i32,
}

/// The runs of all mailers, by what tracking codes say.
#[derive(Debug, Clone, Default)]
pub struct MailedRuns {
    /// By mailer, in the order of their first serial numbers.
    by_mailer: HashMap<String, Vec<MailedRun>>,
}

impl MailedRuns {
    /// Of these runs.
    pub fn new(runs: impl IntoIterator<Item = MailedRun>) -> Self {
        let mut by_mailer: HashMap<String, Vec<MailedRun>> = HashMap::new();
        for run in runs {
            by_mailer
                .entry(run.mailer_id.clone())
                .or_default()
                .push(run);
        }
        for runs in by_mailer.values_mut() {
            runs.sort_by_key(|run| run.first_serial);
        }
        Self { by_mailer }
    }

    /// Of which run the mailpiece can be that was scanned then: the newest that has its serial number, was printed by then, and
    /// whose mailpieces can be in the mail. `None` when there is none.
    pub fn find_place(&self, tracking: &TrackingCode, at: DateTime<Utc>) -> Option<RunPlace> {
        let runs = self.by_mailer.get(tracking.mailer_id())?;
        let (serial, count) = (tracking.serial(), tracking.serial_count());
        let last = runs.last()?;
        let end = last.first_serial.checked_add(last.mailpieces)?;
        // From the newest of its numbers back: number of the count, or one round earlier, and so on.
        let mut number = newest_number(serial, count, end)?;
        loop {
            let index = runs.partition_point(|run| run.first_serial <= number);
            let run = runs[..index].last();
            if let Some(run) = run.filter(|run| number < run.first_serial + run.mailpieces)
                && run.can_be_seen(at)
            {
                let position = i32::try_from(number - run.first_serial + 1).ok()?;
                return Some(RunPlace {
                    run_id: run.run_id,
                    position,
                });
            }
            if number < runs[0].first_serial {
                return None;
            }
            number = number.checked_sub(count)?;
        }
    }
}

/// The largest number below `end` that ends with the serial number.
fn newest_number(serial: u64, count: u64, end: u64) -> Option<u64> {
    let last = end.checked_sub(1)?.checked_sub(serial)?;
    Some(last / count * count + serial)
}

impl MailedRun {
    fn can_be_seen(&self, at: DateTime<Utc>) -> bool {
        let last_day = self.serials_free_on.checked_add_days(LATE);
        at + EARLY >= self.printed_at && last_day.is_none_or(|day| at.date_naive() < day)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(number: u64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_790_000_000, 0).unwrap() + Days::new(number)
    }

    fn run(number: u128, first_serial: u64, mailpieces: u64, printed: u64) -> MailedRun {
        MailedRun {
            run_id: Uuid::from_u128(number),
            mailer_id: "901234567".to_owned(),
            first_serial,
            mailpieces,
            printed_at: day(printed),
            serials_free_on: day(printed + 50).date_naive(),
        }
    }

    fn code(serial: u64) -> TrackingCode {
        TrackingCode::parse(&format!("00310901234567{serial:06}")).unwrap()
    }

    #[test]
    fn a_serial_number_that_came_again_is_of_the_run_that_was_in_the_mail() {
        let runs = MailedRuns::new([
            run(1, 999_990, 20, 0),
            run(2, 1_000_010, 5, 1),
            run(3, 1_999_995, 20, 60),
        ]);
        let place = |serial, at| {
            let place = runs.find_place(&code(serial), at)?;
            Some((place.run_id.as_u128(), place.position))
        };
        assert_eq!(place(999_995, day(3)), Some((1, 6)));
        assert_eq!(place(999_995, day(61)), Some((3, 1)));
        assert_eq!(place(2, day(3)), Some((1, 13)));
        assert_eq!(place(2, day(61)), Some((3, 8)));
        assert_eq!(place(12, day(3)), Some((2, 3)));
        // Printed later, mailed too long ago, never given out.
        assert_eq!(place(12, day(0)), None);
        assert_eq!(place(12, day(200)), None);
        assert_eq!(place(500, day(3)), None);
        let foreign = TrackingCode::parse("00310123456000000002").unwrap();
        assert_eq!(runs.find_place(&foreign, day(3)), None);
    }

    proptest! {
        /// The same as looking at every mailpiece of every run.
        #[test]
        fn the_place_is_what_a_look_at_all_mailpieces_finds(
            sizes in prop::collection::vec((1_u64..400_000, 0_u64..300_000, 0_u64..20), 1..12),
            probes in prop::collection::vec((0_usize..12, 0_u64..400_000, 0_u64..150), 1..30),
        ) {
            let (mut next, mut today, mut runs) = (0, 0, Vec::new());
            for (number, (mailpieces, gap, days)) in sizes.into_iter().enumerate() {
                runs.push(run(number as u128, next + gap, mailpieces, today));
                next += gap + mailpieces;
                today += days;
            }
            let known = MailedRuns::new(runs.clone());
            for (index, offset, at) in probes {
                let serial = (runs[index % runs.len()].first_serial + offset) % 1_000_000;
                let expected = runs.iter().rev().filter(|run| run.can_be_seen(day(at))).find_map(|run| {
                    let mut number = run.first_serial / 1_000_000 * 1_000_000 + serial;
                    if number < run.first_serial {
                        number += 1_000_000;
                    }
                    let place = number - run.first_serial;
                    (place < run.mailpieces).then(|| (run.run_id, place as i32 + 1))
                });
                let found = known.find_place(&code(serial), day(at));
                prop_assert_eq!(found.map(|place| (place.run_id, place.position)), expected);
            }
        }
    }
}
