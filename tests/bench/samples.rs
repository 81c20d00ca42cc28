//! Repeated measurements.

use std::time::Duration;

/// Measurements of one thing. Their median is what counts: on a machine that does other work too, a mean tells
/// of that work.
#[derive(Debug, Clone, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Adds a time.
    pub fn push(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64());
    }

    /// The median in milliseconds; 0 without samples.
    pub fn median_ms(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let seconds = match sorted.len() {
            0 => 0.0,
            length if length.is_multiple_of(2) => f64::midpoint(sorted[middle - 1], sorted[middle]),
            _ => sorted[middle],
        };
        seconds * 1000.0
    }

    /// The mean in milliseconds; 0 without samples.
    pub fn mean_ms(&self) -> f64 {
        self.0.iter().sum::<f64>() * 1000.0 / self.0.len().max(1) as f64
    }

    /// The time in milliseconds that this many of a hundred do not exceed; 0 without samples.
    pub fn percentile_ms(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(rank).map_or(0.0, |seconds| seconds * 1000.0)
    }
}
