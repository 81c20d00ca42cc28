//! What became of a file's rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Broken rows that are kept with their lines.
const BROKEN_ROWS: usize = 100;

/// Unknown operations that are kept by their codes.
const OPERATIONS: usize = 100;

/// What became of a file's rows. Each is in one of the counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScanCounts {
    /// All.
    pub rows: u64,
    /// Scans that were not known.
    pub new: u64,
    /// Scans that were known already, from this file or another.
    pub doubled: u64,
    /// Scans of mailers that never printed here.
    pub foreign: u64,
    /// Scans of ours, of a mailpiece that no print run has.
    pub unmatched: u64,
    /// Scans of ours, with an operation that nobody knows.
    pub unknown: u64,
    /// Rows that say nothing readable.
    pub broken: u64,
    /// Unknown operations with their numbers of rows; a hundred different ones at the most.
    pub unknown_operations: BTreeMap<String, u64>,
    /// The first hundred broken rows.
    pub broken_rows: Vec<BrokenRow>,
}

/// A row that says nothing readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenRow {
    /// Its line, from 1.
    pub line: u64,
    /// Why.
    pub problem: String,
}

impl ScanCounts {
    pub(crate) fn count_broken(&mut self, line: u64, problem: String) {
        self.broken += 1;
        if self.broken_rows.len() < BROKEN_ROWS {
            self.broken_rows.push(BrokenRow { line, problem });
        }
    }

    pub(crate) fn count_unknown(&mut self, operation: &str) {
        self.unknown += 1;
        let has_room = self.unknown_operations.len() < OPERATIONS;
        match self.unknown_operations.get_mut(operation) {
            Some(count) => *count += 1,
            None if has_room => {
                self.unknown_operations.insert(operation.to_owned(), 1);
            }
            None => {}
        }
    }
}

impl ScanCounts {
    /// Adds what became of a portion's rows.
    pub(crate) fn add(&mut self, portion: Self) {
        self.rows += portion.rows;
        self.new += portion.new;
        self.doubled += portion.doubled;
        self.foreign += portion.foreign;
        self.unmatched += portion.unmatched;
        self.broken += portion.broken - portion.broken_rows.len() as u64;
        for row in portion.broken_rows {
            self.count_broken(row.line, row.problem);
        }
        let named: u64 = portion.unknown_operations.values().sum();
        self.unknown += portion.unknown - named;
        for (operation, count) in portion.unknown_operations {
            self.unknown += count - 1;
            let known = self.unknown_operations.get(&operation).copied();
            self.count_unknown(&operation);
            if let Some(stored) = self.unknown_operations.get_mut(&operation) {
                *stored = known.unwrap_or_default() + count;
            }
        }
    }
}
