//! A portion of a file: which of its rows are scans of ours, and of which mailpieces.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use model::mailpiece_state::MailpieceState;
use postal::{MailedRuns, PostalRow, PostalScan, RunPlace};
use store::{MailedPiece, NewPostalScan, Store, StoreError, Transaction};

use crate::counts::ScanCounts;

/// How far ahead of us clocks of the post may go, zones that are not quite right included.
const AHEAD: TimeDelta = TimeDelta::days(1);

/// The barcode's first two digits as we print them: no sortation is told.
const BARCODE_ID: &str = "00";

/// How long after its serial numbers may come again a run is looked for; as long as `postal` believes in one.
const LATE: Days = Days::new(90);

/// Print runs as far as scans have needed them.
pub(crate) struct KnownRuns {
    mailer_ids: Vec<String>,
    runs: MailedRuns,
    /// The day from which on runs are known; `None` before any is.
    free_from: Option<NaiveDate>,
}

/// A scan of a mailer of ours, whose mailpiece is at a place.
struct PlacedScan {
    place: RunPlace,
    state: MailpieceState,
    scan: PostalScan,
}

impl KnownRuns {
    pub(crate) async fn open(store: &Store) -> Result<Self, StoreError> {
        Ok(Self {
            mailer_ids: store.list_print_mailers().await?,
            runs: MailedRuns::default(),
            free_from: None,
        })
    }

    fn is_ours(&self, scan: &PostalScan) -> bool {
        let mailer_id = scan.tracking.mailer_id();
        self.mailer_ids.iter().any(|ours| ours == mailer_id)
    }

    /// Reads the runs that scans since `first` can be of.
    async fn reach_back(&mut self, store: &Store, first: DateTime<Utc>) -> Result<(), StoreError> {
        let free_from = first.date_naive() - LATE;
        if self.free_from.is_some_and(|known| known <= free_from) {
            return Ok(());
        }
        let mailer_ids: Vec<&str> = self.mailer_ids.iter().map(String::as_str).collect();
        let runs = store.list_mailed_runs(&mailer_ids, free_from).await?;
        self.runs = MailedRuns::new(runs);
        self.free_from = Some(free_from);
        Ok(())
    }
}

/// A portion whose rows were looked at.
pub(crate) struct SortedPortion {
    placed: Vec<PlacedScan>,
    /// What became of all others.
    counts: ScanCounts,
}

/// Looks at rows: what is left are scans that can be of a mailpiece of ours.
pub(crate) async fn sort_rows(
    store: &Store,
    known: &mut KnownRuns,
    rows: Vec<PostalRow>,
    now: DateTime<Utc>,
) -> Result<SortedPortion, StoreError> {
    let mut counts = ScanCounts {
        rows: rows.len() as u64,
        ..ScanCounts::default()
    };
    let mut ours = Vec::new();
    for row in rows {
        match row.outcome {
            Err(problem) => counts.count_broken(row.line, problem.to_string()),
            Ok(scan) if scan.scanned_at > now + AHEAD => {
                counts.count_broken(row.line, "the time lies in the future".to_owned());
            }
            Ok(scan) if !known.is_ours(&scan) => counts.foreign += 1,
            Ok(scan) => match scan.state {
                Some(state) => ours.push((scan, state)),
                None => counts.count_unknown(&scan.operation),
            },
        }
    }
    if let Some(first) = ours.iter().map(|(scan, _)| scan.scanned_at).min() {
        known.reach_back(store, first).await?;
    }
    let mut placed = Vec::with_capacity(ours.len());
    for (scan, state) in ours {
        match known.runs.find_place(&scan.tracking, scan.scanned_at) {
            Some(place) if scan.tracking.barcode_id() == BARCODE_ID => {
                placed.push(PlacedScan { place, state, scan });
            }
            _ => counts.unmatched += 1,
        }
    }
    Ok(SortedPortion { placed, counts })
}

impl SortedPortion {
    /// Records its scans. Returns what became of all rows.
    pub(crate) async fn record_scans(
        &self,
        transaction: &Transaction<'_>,
        now: DateTime<Utc>,
    ) -> Result<ScanCounts, StoreError> {
        let mut counts = self.counts.clone();
        let places: HashSet<RunPlace> = self.placed.iter().map(|placed| placed.place).collect();
        let places: Vec<RunPlace> = places.into_iter().collect();
        let pieces = transaction.find_mailed_pieces(&places).await?;
        let (mut seen, mut new) = (HashSet::new(), Vec::new());
        for placed in &self.placed {
            let Some(piece) = find_piece(&pieces, placed) else {
                counts.unmatched += 1;
                continue;
            };
            let event_id = placed.scan.event_id();
            if seen.insert((piece.mailpiece_id, event_id)) {
                new.push(NewPostalScan {
                    piece,
                    event_id,
                    state: placed.state,
                    scanned_at: placed.scan.scanned_at,
                    detail: placed.scan.describe_operation(),
                });
            } else {
                counts.doubled += 1;
            }
        }
        let recorded = transaction.record_postal_scans(&new, now).await?;
        let recorded = u64::try_from(recorded).unwrap_or_default();
        counts.new += recorded;
        counts.doubled += (new.len() as u64).saturating_sub(recorded);
        Ok(counts)
    }
}

/// The mailpiece at the place of a scan, when its barcode was printed with the service type that was scanned.
fn find_piece<'p>(
    pieces: &'p HashMap<RunPlace, MailedPiece>,
    placed: &PlacedScan,
) -> Option<&'p MailedPiece> {
    let service_type = placed.scan.tracking.service_type();
    let piece = pieces.get(&placed.place)?;
    (piece.service_type.as_deref() == Some(service_type)).then_some(piece)
}
