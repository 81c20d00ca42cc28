//! `bench formulas`: evaluations of one formula, and what formula columns add to a send.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use audience::{ColumnType, ValueLookup};
use chrono::NaiveDate;
use formula::{ComputedRow, FormulaColumn, FormulaSheet, InputColumn, compile_formula};

use crate::figures::Figure;
use crate::step;

/// The formula whose speed is promised.
const PROMISED: &str = "IF(lifetime_value > 500, \"VIP\", PROPER(first_name))";

/// Times that a formula is evaluated in one round, and rounds; the best counts, for what else the machine does only slows.
const EVALUATIONS: usize = 500_000;
const ROUNDS: usize = 5;

/// Recipients of the largest request, and formula columns that its campaign looks at.
const RECIPIENTS: usize = model::limits::RECIPIENTS_PER_REQUEST;
const FORMULA_COLUMNS: usize = 10;

/// Times that a formula is compiled.
const COMPILATIONS: usize = 200;

/// Measures everything.
pub async fn run() -> anyhow::Result<Vec<Figure>> {
    step("evaluate one formula");
    let mut figures = vec![
        evaluating(PROMISED, "600", "of the promised formula, the first branch")?,
        evaluating(
            PROMISED,
            "400",
            "of the promised formula, the second branch",
        )?
        .at_least(500_000.0),
    ];
    step("compute the columns of a send");
    figures.push(sending()?.at_most(25.0));
    figures.push(compiling()?);
    Ok(figures)
}

fn columns() -> Vec<InputColumn> {
    [
        ("first_name", ColumnType::Text),
        ("lifetime_value", ColumnType::Number),
    ]
    .map(|(name, column_type)| InputColumn {
        name: name.to_owned(),
        column_type,
    })
    .into()
}

fn row(first_name: &str, lifetime_value: &str) -> HashMap<String, String> {
    [
        ("first_name", first_name),
        ("lifetime_value", lifetime_value),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn refused(problems: Vec<formula::FormulaDiagnostic>) -> anyhow::Error {
    anyhow::anyhow!("a formula of the benchmark is refused: {problems:?}")
}

fn evaluating(source: &str, lifetime_value: &str, what: &str) -> anyhow::Result<Figure> {
    let formula = compile_formula(source, &columns()).map_err(refused)?;
    let row = row("ada lovelace", lifetime_value);
    let seconds = best(|| {
        for _ in 0..EVALUATIONS {
            black_box(formula.evaluate(black_box(&row), NaiveDate::MIN));
        }
    });
    Ok(Figure::new(
        format!("evaluations {what}"),
        EVALUATIONS as f64 / seconds,
        "per second on a core",
    ))
}

/// Compiling and computing what a send computes: each of its columns, of each of its recipients.
fn sending() -> anyhow::Result<Figure> {
    let definitions: Vec<FormulaColumn> = (0..FORMULA_COLUMNS)
        .map(|at| FormulaColumn {
            name: format!("tier {at}"),
            column_type: ColumnType::Text,
            source: PROMISED.replace("500", &format!("{}00", at + 1)),
            uses: None,
        })
        .collect();
    let names: Vec<String> = (0..FORMULA_COLUMNS)
        .map(|at| format!("tier {at}"))
        .collect();
    let rows: Vec<_> = (0..RECIPIENTS)
        .map(|number| row("ada lovelace", &(number % 1_500).to_string()))
        .collect();
    let seconds = best(|| {
        let sheet = FormulaSheet::new(columns(), definitions.clone());
        for row in &rows {
            let computed = ComputedRow::new(&sheet, row, NaiveDate::MIN);
            for name in &names {
                black_box(computed.value(name));
            }
        }
    });
    let what = format!(
        "{RECIPIENTS} recipients with {FORMULA_COLUMNS} formula columns, compiled and computed"
    );
    Ok(Figure::new(what, seconds * 1e3, "ms"))
}

fn compiling() -> anyhow::Result<Figure> {
    compile_formula(PROMISED, &columns()).map_err(refused)?;
    let seconds = best(|| {
        for _ in 0..COMPILATIONS {
            let _ = black_box(compile_formula(black_box(PROMISED), &columns()));
        }
    });
    Ok(Figure::new(
        "compiling the promised formula",
        seconds * 1e6 / COMPILATIONS as f64,
        "µs",
    ))
}

/// Seconds of the quickest round.
fn best(measured: impl Fn()) -> f64 {
    let round = |_| {
        let begun = Instant::now();
        measured();
        begun.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}
