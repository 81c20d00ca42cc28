//! Dates: days of the calendar, without a time.

use audience::Birthday;
use chrono::{Datelike, Months, NaiveDate};

use super::definition::{
    FunctionDefinition, FunctionHelp, FunctionParameters, FunctionReturn, ParameterKind,
};
use super::text;
use crate::machine::{
    EvaluationError, EvaluationResult, FormulaEvaluator, calendar_date, evaluation_error,
};
use crate::node::ExpressionNode;
use crate::value::{CellValue, ValueType};

const CATEGORY: &str = "date";
const DATE: FunctionReturn = FunctionReturn::Always(ValueType::Date);
const NUMBER: FunctionReturn = FunctionReturn::Always(ValueType::Number);
/// What DATEDIF counts: whole years, months, days; days beyond whole months, months and days beyond whole years.
const UNITS: [&str; 6] = ["Y", "M", "D", "MD", "YM", "YD"];

const fn function_help(
    [name, signature, description]: [&'static str; 3],
    [example, result]: [&'static str; 2],
) -> FunctionHelp {
    FunctionHelp {
        name,
        category: CATEGORY,
        signature,
        description,
        example,
        result,
    }
}

const ONE_DATE: FunctionParameters = FunctionParameters::exactly(1, |_, _| ParameterKind::Date);
/// A date, or a birthday.
const MONTH_AND_DAY: FunctionParameters =
    FunctionParameters::exactly(1, |_, _| ParameterKind::MonthAndDay);
/// A date and a number of months.
const DATE_AND_MONTHS: FunctionParameters = FunctionParameters::exactly(2, |at, _| {
    if at == 0 {
        ParameterKind::Date
    } else {
        ParameterKind::Number
    }
});

pub(super) static FUNCTIONS: [FunctionDefinition; 11] = [
    FunctionDefinition {
        help: function_help(
            ["TODAY", "TODAY()", "The day in the team's time zone."],
            ["TODAY()", "2026-01-31"],
        ),
        takes: FunctionParameters::exactly(0, |_, _| ParameterKind::Any),
        gives: DATE,
        run: |machine, _| Ok(CellValue::Date(machine.today())),
    },
    FunctionDefinition {
        help: function_help(
            [
                "DATE",
                "DATE(year, month, day)",
                "The date of this year, month and day.",
            ],
            ["DATE(2026, 7, 4)", "2026-07-04"],
        ),
        takes: FunctionParameters::exactly(3, |_, _| ParameterKind::Number),
        gives: DATE,
        run: from_parts,
    },
    FunctionDefinition {
        help: function_help(
            [
                "DATEVALUE",
                "DATEVALUE(text)",
                "The date that a text is, such as 2026-07-04 or 7/4/2026; one without a year is none.",
            ],
            ["DATEVALUE(\"7/4/2026\")", "2026-07-04"],
        ),
        takes: FunctionParameters::exactly(1, |_, _| ParameterKind::Text),
        gives: DATE,
        run: from_text,
    },
    FunctionDefinition {
        help: function_help(
            ["YEAR", "YEAR(date)", "The year of a date."],
            ["YEAR(\"2026-07-04\")", "2026"],
        ),
        takes: ONE_DATE,
        gives: NUMBER,
        run: |machine, arguments| {
            Ok(CellValue::Number(
                machine.evaluate_date(&arguments[0])?.year().into(),
            ))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "MONTH",
                "MONTH(date)",
                "The month of a date, or of the column birthday, 1 to 12.",
            ],
            ["MONTH(\"2026-07-04\")", "7"],
        ),
        takes: MONTH_AND_DAY,
        gives: NUMBER,
        run: |machine, arguments| {
            Ok(CellValue::Number(
                month_and_day(machine, &arguments[0])?.0.into(),
            ))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "DAY",
                "DAY(date)",
                "The day of the month of a date, or of the column birthday.",
            ],
            ["DAY(\"2026-07-04\")", "4"],
        ),
        takes: MONTH_AND_DAY,
        gives: NUMBER,
        run: |machine, arguments| {
            Ok(CellValue::Number(
                month_and_day(machine, &arguments[0])?.1.into(),
            ))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "WEEKDAY",
                "WEEKDAY(date)",
                "The day of the week of a date: 1 is Sunday, 7 is Saturday.",
            ],
            ["WEEKDAY(\"2026-07-04\")", "7"],
        ),
        takes: ONE_DATE,
        gives: NUMBER,
        run: |machine, arguments| {
            Ok(CellValue::Number(
                machine
                    .evaluate_date(&arguments[0])?
                    .weekday()
                    .number_from_sunday()
                    .into(),
            ))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "DAYS",
                "DAYS(end, start)",
                "Days from the start to the end; also written end - start.",
            ],
            ["DAYS(\"2026-07-04\", \"2026-07-01\")", "3"],
        ),
        takes: FunctionParameters::exactly(2, |_, _| ParameterKind::Date),
        gives: NUMBER,
        run: |machine, arguments| {
            let (end, start) = (
                machine.evaluate_date(&arguments[0])?,
                machine.evaluate_date(&arguments[1])?,
            );
            Ok(CellValue::Number((end - start).num_days() as f64))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "DATEDIF",
                "DATEDIF(start, end, unit)",
                "Whole years (\"Y\"), months (\"M\") or days (\"D\") from the start to the end, or what is left of them: \"YM\" months beyond years, \"MD\" days beyond months, \"YD\" days beyond years.",
            ],
            ["DATEDIF(\"2019-07-04\", TODAY(), \"Y\")", "6"],
        ),
        takes: FunctionParameters::exactly(3, |at, _| {
            if at < 2 {
                ParameterKind::Date
            } else {
                ParameterKind::OneOf(&UNITS)
            }
        }),
        gives: NUMBER,
        run: date_difference,
    },
    FunctionDefinition {
        help: function_help(
            [
                "EDATE",
                "EDATE(date, months)",
                "The date so many months later, or earlier; at the end of a shorter month, its last day.",
            ],
            ["EDATE(\"2026-01-31\", 1)", "2026-02-28"],
        ),
        takes: DATE_AND_MONTHS,
        gives: DATE,
        run: |machine, arguments| {
            let (date, months) = (
                machine.evaluate_date(&arguments[0])?,
                machine.evaluate_integer(&arguments[1])?,
            );
            calendar_date(months_later(date, months))
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "EOMONTH",
                "EOMONTH(date, months)",
                "The last day of the month that is so many months later, or earlier.",
            ],
            ["EOMONTH(TODAY(), 1)", "2026-02-28"],
        ),
        takes: DATE_AND_MONTHS,
        gives: DATE,
        run: |machine, arguments| {
            let (date, months) = (
                machine.evaluate_date(&arguments[0])?,
                machine.evaluate_integer(&arguments[1])?,
            );
            // The day before the first of the month after.
            let first = date
                .with_day(1)
                .and_then(|first| months_later(first, months.saturating_add(1)));
            calendar_date(first.and_then(|first| first.pred_opt()))
        },
    },
];

fn months_later(date: NaiveDate, months: i32) -> Option<NaiveDate> {
    let count = Months::new(months.unsigned_abs());
    if months < 0 {
        date.checked_sub_months(count)
    } else {
        date.checked_add_months(count)
    }
}

fn from_parts<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let (year, month, day) = (
        machine.evaluate_integer(&arguments[0])?,
        machine.evaluate_integer(&arguments[1])?,
        machine.evaluate_integer(&arguments[2])?,
    );
    let small = |number: i32| u32::try_from(number).ok();
    calendar_date(
        small(month)
            .zip(small(day))
            .and_then(|(month, day)| NaiveDate::from_ymd_opt(year, month, day)),
    )
}

/// Month and day of a date, or of a birthday with a year or without.
fn month_and_day<'a>(
    machine: &mut FormulaEvaluator<'a>,
    node: &'a ExpressionNode,
) -> EvaluationResult<'a, (u32, u32)> {
    match machine.evaluate(node)? {
        CellValue::Date(date) => Ok((date.month(), date.day())),
        CellValue::Text(written) => match Birthday::parse(&written) {
            Some(birthday) => Ok((birthday.month(), birthday.day())),
            None => evaluation_error(format!(
                "“{}” is not a birthday",
                text::truncate_text(&written)
            )),
        },
        _ => evaluation_error("a date is needed"),
    }
}

fn from_text<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let written = text::evaluate_searched_text(machine, &arguments[0])?;
    match audience::value::read_date(&written) {
        Some(date) => Ok(CellValue::Date(date)),
        None if written.trim().is_empty() => {
            Err(EvaluationError::Nothing("the text to be read is blank"))
        }
        None if Birthday::parse(&written).is_some() => evaluation_error(format!(
            "“{}” has no year; of a birthday MONTH and DAY read it",
            text::truncate_text(&written)
        )),
        None => evaluation_error(format!("“{}” is not a date", text::truncate_text(&written))),
    }
}

fn date_difference<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let (start, end) = (
        machine.evaluate_date(&arguments[0])?,
        machine.evaluate_date(&arguments[1])?,
    );
    let unit = machine.evaluate_text(&arguments[2])?;
    if end < start {
        return evaluation_error("DATEDIF ends before it starts");
    }
    let months = whole_months(start, end);
    let days_since =
        |months: i32| months_later(start, months).map_or(0, |since| (end - since).num_days());
    let count = match unit.to_uppercase().as_str() {
        "Y" => i64::from(months / 12),
        "M" => i64::from(months),
        "D" => days_since(0),
        "MD" => days_since(months),
        "YM" => i64::from(months % 12),
        _ => days_since(months - months % 12),
    };
    Ok(CellValue::Number(count as f64))
}

/// Whole months from one date to another that is not earlier.
fn whole_months(start: NaiveDate, end: NaiveDate) -> i32 {
    let months = (end.year() - start.year()) * 12 + end.month0() as i32 - start.month0() as i32;
    if end.day() < start.day() {
        months - 1
    } else {
        months
    }
}
