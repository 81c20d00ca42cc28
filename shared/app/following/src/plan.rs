//! Which mailpieces a page reads, decided from the groups that changed: no more than a number of rows, whatever the groups have.

use store::{ChangedGroup, ChangedGroupKind, ChargeSpan, PrintRunSpan};
use uuid::Uuid;

use crate::cursor::ListPlace;

/// What a page reads of some groups.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadPlan {
    /// Parts of charges.
    pub(crate) charges: Vec<ChargeSpan>,
    /// Parts of print runs.
    pub(crate) runs: Vec<PrintRunSpan>,
    /// The groups in their order, as far as they are read.
    pub(crate) groups: Vec<PlannedGroup>,
}

/// What is read of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlannedGroup {
    /// Its index, and the number of its span.
    pub(crate) index: usize,
    /// Up to where it is read.
    pub(crate) end: PlannedEnd,
}

/// Up to where a group is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlannedEnd {
    /// Nothing of it: it was read, or has nothing that is wanted.
    Skipped,
    /// To its end.
    Whole,
    /// To this place within it.
    Within(u128),
    /// To its end when fewer rows than these are found; else to the last of them.
    Unless(usize),
}

/// Plans to read groups, the first from `within` on, up to `rows` rows in all. `is_wanted` says of a charge whether its mailpieces can be
/// wanted.
pub(crate) fn plan_reads(
    groups: &[ChangedGroup],
    within: u128,
    rows: usize,
    is_wanted: impl Fn(&ChangedGroup) -> bool,
) -> ReadPlan {
    let (mut plan, mut left) = (ReadPlan::default(), rows);
    for (index, group) in groups.iter().enumerate() {
        if left == 0 {
            break;
        }
        let within = if index == 0 { within } else { 0 };
        let (end, read) = if within == ListPlace::ALL || !is_wanted(group) {
            (PlannedEnd::Skipped, 0)
        } else {
            plan.add_group(index, group, within, left)
        };
        plan.groups.push(PlannedGroup { index, end });
        left -= read;
    }
    plan
}

impl ReadPlan {
    /// Adds what is read of a group; returns up to where, and how many rows at the most.
    fn add_group(
        &mut self,
        index: usize,
        group: &ChangedGroup,
        within: u128,
        left: usize,
    ) -> (PlannedEnd, usize) {
        let size = usize::try_from(group.mailpieces).unwrap_or(0);
        let number = i32::try_from(index).unwrap_or(i32::MAX);
        match group.kind {
            ChangedGroupKind::Mailpiece => (PlannedEnd::Whole, 1),
            _ if size == 0 => (PlannedEnd::Skipped, 0),
            ChangedGroupKind::Charge => {
                let rows = size.min(left);
                self.charges.push(ChargeSpan {
                    number,
                    charge_id: group.item_id,
                    after: Uuid::from_u128(within),
                    rows: rows as i64,
                });
                let end = if rows == size {
                    PlannedEnd::Whole
                } else {
                    PlannedEnd::Unless(rows)
                };
                (end, rows)
            }
            ChangedGroupKind::PrintRun => {
                let after = usize::try_from(within).unwrap_or(size).min(size);
                let until = size.min(after + left);
                let place = |at: usize| i32::try_from(at).unwrap_or(i32::MAX);
                self.runs.push(PrintRunSpan {
                    number,
                    run_id: group.item_id,
                    after: place(after),
                    until: place(until),
                });
                let end = if until == size {
                    PlannedEnd::Whole
                } else {
                    PlannedEnd::Within(until as u128)
                };
                (end, until - after)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn group(position: i64, kind: ChangedGroupKind, mailpieces: i32) -> ChangedGroup {
        ChangedGroup {
            position,
            batch_id: Uuid::now_v7(),
            kind,
            item_id: Uuid::now_v7(),
            mailpieces,
            campaign_id: None,
        }
    }

    fn rows_of(plan: &ReadPlan, groups: &[ChangedGroup]) -> usize {
        let alone = plan
            .groups
            .iter()
            .filter(|planned| groups[planned.index].kind == ChangedGroupKind::Mailpiece)
            .filter(|planned| planned.end == PlannedEnd::Whole)
            .count();
        let charged: i64 = plan.charges.iter().map(|span| span.rows).sum();
        let printed: i32 = plan.runs.iter().map(|span| span.until - span.after).sum();
        alone + charged as usize + printed as usize
    }

    #[test]
    fn a_charge_that_is_too_large_is_read_in_parts() {
        let groups = [
            group(1, ChangedGroupKind::Charge, 3),
            group(2, ChangedGroupKind::Charge, 10),
            group(3, ChangedGroupKind::Mailpiece, 0),
        ];
        let plan = plan_reads(&groups, 0, 8, |_| true);
        let ends: Vec<PlannedEnd> = plan.groups.iter().map(|planned| planned.end).collect();
        assert_eq!(ends, [PlannedEnd::Whole, PlannedEnd::Unless(5)]);
        assert_eq!(rows_of(&plan, &groups), 8);
    }

    #[test]
    fn a_print_run_is_read_from_place_to_place() {
        let groups = [group(1, ChangedGroupKind::PrintRun, 10)];
        let plan = plan_reads(&groups, 4, 5, |_| true);
        assert_eq!((plan.runs[0].after, plan.runs[0].until), (4, 9));
        assert_eq!(plan.groups[0].end, PlannedEnd::Within(9));
        let rest = plan_reads(&groups, 9, 5, |_| true);
        assert_eq!((rest.runs[0].after, rest.runs[0].until), (9, 10));
        assert_eq!(rest.groups[0].end, PlannedEnd::Whole);
    }

    #[test]
    fn what_was_read_whole_or_is_not_wanted_costs_nothing() {
        let groups = [
            group(1, ChangedGroupKind::Charge, 10),
            group(2, ChangedGroupKind::Charge, 10),
        ];
        let read = plan_reads(&groups, ListPlace::ALL, 10, |_| true);
        assert_eq!(read.charges.len(), 1);
        assert_eq!(read.groups.len(), 2);
        let unwanted = plan_reads(&groups, 0, 1, |_| false);
        assert_eq!(rows_of(&unwanted, &groups), 0);
        assert_eq!(unwanted.groups.len(), 2);
    }

    proptest! {
        #[test]
        fn no_more_rows_are_read_than_were_allowed_and_something_is_always_read(
            kinds in prop::collection::vec((0..3_u8, 0..40_i32), 1..30), rows in 1_usize..100, within in 0_u128..50,
        ) {
            let groups: Vec<ChangedGroup> = kinds
                .iter()
                .enumerate()
                .map(|(at, (kind, size))| {
                    let kind = match kind {
                        0 => ChangedGroupKind::Mailpiece,
                        1 => ChangedGroupKind::Charge,
                        _ => ChangedGroupKind::PrintRun,
                    };
                    group(at as i64 + 1, kind, *size)
                })
                .collect();
            let plan = plan_reads(&groups, within, rows, |_| true);
            prop_assert!(rows_of(&plan, &groups) <= rows);
            prop_assert!(!plan.groups.is_empty());
            let before = &plan.groups[..plan.groups.len() - 1];
            prop_assert!(before.iter().all(|planned| matches!(planned.end, PlannedEnd::Whole | PlannedEnd::Skipped)));
        }
    }
}
