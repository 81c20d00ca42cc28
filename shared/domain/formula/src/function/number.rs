//! Numbers.

use std::cmp::Ordering;

use super::{ANY_NUMBER, FunctionDefinition, FunctionParameters, FunctionReturn, ParameterKind};
use crate::FunctionHelp;
use crate::machine::{EvaluationError, EvaluationResult, FormulaEvaluator, error, finite, order};
use crate::node::ExpressionNode;
use crate::value::{CellValue, ValueType, remainder, round_to, settled, tidy};

const CATEGORY: &str = "number";
const GIVES: FunctionReturn = FunctionReturn::Always(ValueType::Number);

const fn help(
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

const fn numbers(least: usize, most: usize) -> FunctionParameters {
    FunctionParameters::between(least, most, |_, _| ParameterKind::Number)
}

const ALL_BLANK: EvaluationError<'static> = EvaluationError::Nothing("all values are blank");

/// Numbers, or dates.
const ORDERED: FunctionParameters =
    FunctionParameters::between(1, ANY_NUMBER, |_, _| ParameterKind::Ordered);

pub(super) static FUNCTIONS: [FunctionDefinition; 14] = [
    FunctionDefinition {
        help: help(
            [
                "ROUND",
                "ROUND(number, [digits])",
                "The number rounded to so many digits behind the point; halves go away from zero.",
            ],
            ["ROUND(2.345, 2)", "2.35"],
        ),
        takes: numbers(1, 2),
        gives: GIVES,
        run: |machine, arguments| rounded(machine, arguments, f64::round),
    },
    FunctionDefinition {
        help: help(
            [
                "ROUNDUP",
                "ROUNDUP(number, [digits])",
                "The number rounded away from zero.",
            ],
            ["ROUNDUP(2.341, 2)", "2.35"],
        ),
        takes: numbers(1, 2),
        gives: GIVES,
        run: |machine, arguments| {
            rounded(machine, arguments, |number| {
                if number < 0.0 {
                    number.floor()
                } else {
                    number.ceil()
                }
            })
        },
    },
    FunctionDefinition {
        help: help(
            [
                "ROUNDDOWN",
                "ROUNDDOWN(number, [digits])",
                "The number rounded towards zero.",
            ],
            ["ROUNDDOWN(2.349, 2)", "2.34"],
        ),
        takes: numbers(1, 2),
        gives: GIVES,
        run: |machine, arguments| rounded(machine, arguments, f64::trunc),
    },
    FunctionDefinition {
        help: help(
            [
                "INT",
                "INT(number)",
                "The greatest whole number that is not above the number.",
            ],
            ["INT(-2.5)", "-3"],
        ),
        takes: numbers(1, 1),
        gives: GIVES,
        run: |machine, arguments| finite(tidy(machine.number(&arguments[0])?).floor()),
    },
    FunctionDefinition {
        help: help(
            [
                "CEILING",
                "CEILING(number, [step])",
                "The number rounded up to a multiple of the step, which is 1 when none is given.",
            ],
            ["CEILING(23, 5)", "25"],
        ),
        takes: numbers(1, 2),
        gives: GIVES,
        run: |machine, arguments| stepped(machine, arguments, f64::ceil),
    },
    FunctionDefinition {
        help: help(
            [
                "FLOOR",
                "FLOOR(number, [step])",
                "The number rounded down to a multiple of the step, which is 1 when none is given.",
            ],
            ["FLOOR(23, 5)", "20"],
        ),
        takes: numbers(1, 2),
        gives: GIVES,
        run: |machine, arguments| stepped(machine, arguments, f64::floor),
    },
    FunctionDefinition {
        help: help(
            [
                "MOD",
                "MOD(number, divisor)",
                "What is left of the number, with the sign of the divisor.",
            ],
            ["MOD(-7, 3)", "2"],
        ),
        takes: numbers(2, 2),
        gives: GIVES,
        run: |machine, arguments| {
            let (number, divisor) = (
                machine.number(&arguments[0])?,
                machine.number(&arguments[1])?,
            );
            if divisor == 0.0 {
                return error("division by zero");
            }
            let rest = remainder(number, divisor);
            let is_of_other_sign = rest != 0.0 && (rest < 0.0) != (divisor < 0.0);
            finite(if is_of_other_sign {
                rest + divisor
            } else {
                rest
            })
        },
    },
    FunctionDefinition {
        help: help(
            ["ABS", "ABS(number)", "The number without its sign."],
            ["ABS(-5)", "5"],
        ),
        takes: numbers(1, 1),
        gives: GIVES,
        run: |machine, arguments| finite(machine.number(&arguments[0])?.abs()),
    },
    FunctionDefinition {
        help: help(
            [
                "POWER",
                "POWER(base, exponent)",
                "The base to the power of the exponent.",
            ],
            ["POWER(2, 10)", "1024"],
        ),
        takes: numbers(2, 2),
        gives: GIVES,
        run: |machine, arguments| {
            let (base, exponent) = (
                machine.number(&arguments[0])?,
                machine.number(&arguments[1])?,
            );
            match base.powf(exponent) {
                none if none.is_nan() => error("a negative number has no such power"),
                _ if base == 0.0 && exponent < 0.0 => error("division by zero"),
                power => finite(power),
            }
        },
    },
    FunctionDefinition {
        help: help(
            ["SQRT", "SQRT(number)", "The square root."],
            ["SQRT(81)", "9"],
        ),
        takes: numbers(1, 1),
        gives: GIVES,
        run: |machine, arguments| match machine.number(&arguments[0])? {
            negative if negative < 0.0 => error("a negative number has no square root"),
            number => finite(number.sqrt()),
        },
    },
    FunctionDefinition {
        help: help(
            [
                "SUM",
                "SUM(number, [number, ...])",
                "The sum; blanks are passed over.",
            ],
            ["SUM(1, 2, 3.5)", "6.5"],
        ),
        takes: numbers(1, ANY_NUMBER),
        gives: GIVES,
        run: |machine, arguments| {
            let (sum, _) = total(machine, arguments)?;
            finite(sum)
        },
    },
    FunctionDefinition {
        help: help(
            [
                "AVERAGE",
                "AVERAGE(number, [number, ...])",
                "The mean; blanks are passed over.",
            ],
            ["AVERAGE(2, 4, 9)", "5"],
        ),
        takes: numbers(1, ANY_NUMBER),
        gives: GIVES,
        run: |machine, arguments| match total(machine, arguments)? {
            (_, 0) => Err(ALL_BLANK),
            (sum, count) => finite(sum / f64::from(count)),
        },
    },
    FunctionDefinition {
        help: help(
            [
                "MIN",
                "MIN(value, [value, ...])",
                "The least of numbers, or the earliest of dates; blanks are passed over.",
            ],
            ["MIN(3, 1, 2)", "1"],
        ),
        takes: ORDERED,
        gives: FunctionReturn::Argument(|_, _| true),
        run: |machine, arguments| foremost(machine, arguments, Ordering::Less),
    },
    FunctionDefinition {
        help: help(
            [
                "MAX",
                "MAX(value, [value, ...])",
                "The greatest of numbers, or the latest of dates; blanks are passed over.",
            ],
            ["MAX(3, 1, 2)", "3"],
        ),
        takes: ORDERED,
        gives: FunctionReturn::Argument(|_, _| true),
        run: |machine, arguments| foremost(machine, arguments, Ordering::Greater),
    },
];

fn rounded<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
    round: fn(f64) -> f64,
) -> EvaluationResult<'a> {
    // Beyond these a number has no digits to round.
    const MOST_DIGITS: i32 = 300;
    let number = machine.number(&arguments[0])?;
    let digits = match arguments.get(1) {
        Some(node) => machine.whole(node)?.clamp(-MOST_DIGITS, MOST_DIGITS),
        None => 0,
    };
    finite(round_to(number, digits, round))
}

fn stepped<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
    round: fn(f64) -> f64,
) -> EvaluationResult<'a> {
    let number = machine.number(&arguments[0])?;
    let step = match arguments.get(1) {
        Some(node) => machine.number(node)?.abs(),
        None => 1.0,
    };
    if step == 0.0 {
        error("the step is zero")
    } else {
        finite(round(tidy(number / step)) * step)
    }
}

/// The sum of the arguments that are not blank, and how many these are.
fn total<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a, (f64, u32)> {
    let (mut sum, mut largest, mut count) = (0.0, 0.0_f64, 0);
    for node in arguments {
        if let Some(CellValue::Number(number)) = machine.blankable(node)? {
            sum += number;
            largest = largest.max(number.abs());
            count += 1;
        }
    }
    Ok((settled(sum, largest), count))
}

/// The argument that stands so to all others; blank when all are.
fn foremost<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
    wanted: Ordering,
) -> EvaluationResult<'a> {
    let mut best: Option<CellValue<'a>> = None;
    for node in arguments {
        if let Some(cell) = machine.blankable(node)?
            && best
                .as_ref()
                .is_none_or(|best| order(&cell, best) == wanted)
        {
            best = Some(cell);
        }
    }
    best.ok_or(ALL_BLANK)
}
