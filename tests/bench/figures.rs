//! Figures with their bounds, as a table or as JSON.

use std::io::Write;

use serde::Serialize;

/// Something measured.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    figure: String,
    value: f64,
    unit: &'static str,
    /// `at most 3`; absent for a figure that only explains others.
    bound: Option<String>,
    /// Whether the value keeps the bound.
    holds: Option<bool>,
}

/// The figures of one benchmark.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Its name.
    pub bench: &'static str,
    /// Where it ran.
    pub machine: String,
    /// What it found.
    pub figures: Vec<Figure>,
}

impl Figure {
    /// A figure that explains others.
    pub fn new(figure: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self {
            figure: figure.into(),
            value,
            unit,
            bound: None,
            holds: None,
        }
    }

    /// The same figure, which is not to be over `bound`.
    #[must_use]
    pub fn at_most(mut self, bound: f64) -> Self {
        self.bound = Some(format!("at most {bound}"));
        self.holds = Some(self.value <= bound);
        self
    }

    /// The same figure, which is not to be under `bound`.
    #[must_use]
    pub fn at_least(mut self, bound: f64) -> Self {
        self.bound = Some(format!("at least {bound}"));
        self.holds = Some(self.value >= bound);
        self
    }

    fn cells(&self) -> [String; 5] {
        let holds = self
            .holds
            .map_or("", |holds| if holds { "yes" } else { "NO" });
        let bound = self.bound.clone().unwrap_or_default();
        [
            self.figure.clone(),
            number(self.value),
            self.unit.to_owned(),
            bound,
            holds.to_owned(),
        ]
    }
}

impl std::fmt::Display for Figure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [figure, value, unit, ..] = self.cells();
        write!(formatter, "{figure}: {value} {unit}")
    }
}

impl Report {
    /// Prints the report on the standard output: one line of JSON, or a table.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn print(&self, is_json: bool) -> anyhow::Result<()> {
        let mut output = std::io::stdout().lock();
        if is_json {
            writeln!(output, "{}", serde_json::to_string(self)?)?;
        } else {
            writeln!(
                output,
                "{} on {}\n\n{}",
                self.bench,
                self.machine,
                table(&self.figures)
            )?;
        }
        Ok(())
    }
}

/// Three significant digits, and whole numbers whole.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 100.0 {
        format!("{value:.0}")
    } else if value.abs() >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

fn table(figures: &[Figure]) -> String {
    let headings = ["figure", "value", "unit", "bound", "holds"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(headings)
        .chain(figures.iter().map(Figure::cells))
        .collect();
    let widths: [usize; 5] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    let line = |row: &[String; 5]| {
        let [figure, value, unit, bound, holds] = row;
        let [first, second, third, fourth, _] = widths;
        format!("{figure:first$}  {value:>second$}  {unit:third$}  {bound:fourth$}  {holds}")
            .trim_end()
            .to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
