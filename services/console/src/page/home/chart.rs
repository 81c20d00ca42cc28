//! Numbers by day as a picture of bars, with a table that says the same.

use askama::Template;
use chrono::NaiveDate;

use crate::format::format_number;

/// The picture's height, a day's width and what is free between two, in units of the picture.
const HEIGHT: f64 = 160.0;
const DAY: f64 = 40.0;
const GAP: f64 = 6.0;

/// Room for the names of days below the bars, and for the largest number above them.
const BELOW: f64 = 22.0;
const ABOVE: f64 = 18.0;

/// Bars stand on each other, the first series below; each series has a fill of its own, told apart by pattern too.
#[derive(Debug, Template)]
#[template(path = "chart.html")]
pub(super) struct BarChart {
    title: &'static str,
    /// Part of the ids in the page.
    name: String,
    size: (f64, f64),
    bars: Vec<ChartBar>,
    labels: Vec<ChartLabel>,
    baseline: f64,
    most: String,
    /// The names of the series.
    series: Vec<&'static str>,
    /// A row for each day: its date and its numbers.
    rows: Vec<(String, Vec<String>)>,
    summary: String,
    is_empty: bool,
}

/// A number of a day.
#[derive(Debug, PartialEq)]
struct ChartBar {
    series: usize,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// The name of a day below its bars.
#[derive(Debug)]
struct ChartLabel {
    x: f64,
    text: String,
}

impl BarChart {
    /// A chart of series that have a number for each day. Less than nothing is drawn as nothing.
    pub(super) fn new(
        title: &'static str,
        days: &[NaiveDate],
        series: &[(&'static str, &[i64])],
    ) -> Self {
        let totals = (0..days.len()).map(|day| {
            series
                .iter()
                .map(|(_, numbers)| numbers[day].max(0))
                .sum::<i64>()
        });
        let totals: Vec<i64> = totals.collect();
        let most = totals.iter().copied().max().unwrap_or(0);
        let scale = (HEIGHT - ABOVE - BELOW) / most.max(1) as f64;
        let baseline = HEIGHT - BELOW;
        let mut bars = Vec::new();
        for day in 0..days.len() {
            let mut y = baseline;
            for (at, (_, numbers)) in series.iter().enumerate() {
                let height = round_to_tenths(numbers[day].max(0) as f64 * scale);
                y -= height;
                if height > 0.0 {
                    bars.push(ChartBar {
                        series: at,
                        x: day as f64 * DAY + GAP / 2.0,
                        y: round_to_tenths(y),
                        width: DAY - GAP,
                        height,
                    });
                }
            }
        }
        let label = |(at, day): (usize, &NaiveDate)| ChartLabel {
            x: (at as f64 + 0.5) * DAY,
            text: day.format("%-m/%-d").to_string(),
        };
        let row = |(at, day): (usize, &NaiveDate)| {
            let numbers = series
                .iter()
                .map(|(_, numbers)| format_number(numbers[at].max(0).unsigned_abs()));
            (day.format("%a, %b %-d").to_string(), numbers.collect())
        };
        Self {
            title,
            name: title.to_lowercase().replace(' ', "-"),
            size: (days.len() as f64 * DAY, HEIGHT),
            bars,
            labels: days.iter().enumerate().map(label).collect(),
            baseline,
            most: format_number(most.unsigned_abs()),
            series: series.iter().map(|(name, _)| *name).collect(),
            rows: days.iter().enumerate().map(row).collect(),
            summary: chart_summary(title, days, &totals),
            is_empty: most == 0,
        }
    }
}

fn round_to_tenths(units: f64) -> f64 {
    (units * 10.0).round() / 10.0
}

/// What the picture shows, in a sentence.
fn chart_summary(title: &str, days: &[NaiveDate], totals: &[i64]) -> String {
    let all = format_number(totals.iter().sum::<i64>().unsigned_abs());
    let highest = days.iter().zip(totals).max_by_key(|(_, total)| **total);
    match highest {
        Some((day, most)) if *most > 0 => format!(
            "{title}: {all} in {} days, most on {}: {}.",
            days.len(),
            day.format("%b %-d"),
            format_number(most.unsigned_abs())
        ),
        _ => format!("{title}: none in {} days.", days.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days() -> Vec<NaiveDate> {
        ["2026-03-01", "2026-03-02", "2026-03-03"]
            .map(|day| day.parse().unwrap())
            .to_vec()
    }

    #[test]
    fn bars_stand_on_each_other_and_the_highest_fills_the_picture() {
        let chart = BarChart::new(
            "Test by day",
            &days(),
            &[("One", &[10, 0, 5]), ("Two", &[10, 4, 0])],
        );
        assert_eq!(chart.bars.len(), 4);
        let first = &chart.bars[..2];
        assert_eq!(first[0].y + first[0].height, chart.baseline);
        assert_eq!(first[1].y + first[1].height, first[0].y);
        assert_eq!(first[1].y, ABOVE);
        assert_eq!(
            chart.summary,
            "Test by day: 29 in 3 days, most on Mar 1: 20."
        );
        assert_eq!(
            chart.rows[1],
            (
                "Mon, Mar 2".to_owned(),
                vec!["0".to_owned(), "4".to_owned()]
            )
        );
    }

    #[test]
    fn days_without_anything_have_no_bars() {
        let chart = BarChart::new("Test by day", &days(), &[("One", &[0, -3, 0])]);
        assert!(chart.bars.is_empty() && chart.is_empty);
        assert_eq!(chart.summary, "Test by day: none in 3 days.");
    }
}
