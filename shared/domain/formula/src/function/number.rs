//! Numbers.

use std::cmp::Ordering;

use super::definition::{
    ANY_NUMBER, FunctionDefinition, FunctionHelp, FunctionParameters, FunctionReturn, ParameterKind,
};
use crate::machine::{
    EvaluationError, EvaluationResult, FormulaEvaluator, check_finite, compare_cells,
    evaluation_error,
};
use crate::node::ExpressionNode;
use crate::value::{
    CellValue, ValueType, compute_remainder, round_significant, round_sum, round_to,
};

const CATEGORY: &str = "number";
const GIVES: FunctionReturn = FunctionReturn::Always(ValueType::Number);

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

const fn number_parameters(least: usize, most: usize) -> FunctionParameters {
    FunctionParameters::between(least, most, |_, _| ParameterKind::Number)
}

const ALL_BLANK: EvaluationError<'static> = EvaluationError::Nothing("all values are blank");

/// Numbers, or dates.
const ORDERED: FunctionParameters =
    FunctionParameters::between(1, ANY_NUMBER, |_, _| ParameterKind::Ordered);

pub(super) static FUNCTIONS: [FunctionDefinition; 14] = [
    FunctionDefinition {
        help: function_help(
            [
                "ROUND",
                "ROUND(number, [digits])",
                "The number rounded to so many digits behind the point; halves go away from zero.",
            ],
            ["ROUND(2.345, 2)", "2.35"],
        ),
        takes: number_parameters(1, 2),
        gives: GIVES,
        run: |machine, arguments| round_to_digits(machine, arguments, f64::round),
    },
    FunctionDefinition {
        help: function_help(
            [
                "ROUNDUP",
                "ROUNDUP(number, [digits])",
                "The number rounded away from zero.",
            ],
            ["ROUNDUP(2.341, 2)", "2.35"],
        ),
        takes: number_parameters(1, 2),
        gives: GIVES,
        run: |machine, arguments| {
            round_to_digits(machine, arguments, |number| {
                if number < 0.0 {
                    number.floor()
                } else {
                    number.ceil()
                }
            })
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "ROUNDDOWN",
                "ROUNDDOWN(number, [digits])",
                "The number rounded towards zero.",
            ],
            ["ROUNDDOWN(2.349, 2)", "2.34"],
        ),
        takes: number_parameters(1, 2),
        gives: GIVES,
        run: |machine, arguments| round_to_digits(machine, arguments, f64::trunc),
    },
    FunctionDefinition {
        help: function_help(
            [
                "INT",
                "INT(number)",
                "The greatest whole number that is not above the number.",
            ],
            ["INT(-2.5)", "-3"],
        ),
        takes: number_parameters(1, 1),
        gives: GIVES,
        run: |machine, arguments| {
            check_finite(round_significant(machine.evaluate_number(&arguments[0])?).floor())
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "CEILING",
                "CEILING(number, [step])",
                "The number rounded up to a multiple of the step, which is 1 when none is given.",
            ],
            ["CEILING(23, 5)", "25"],
        ),
        takes: number_parameters(1, 2),
        gives: GIVES,
        run: |machine, arguments| round_to_step(machine, arguments, f64::ceil),
    },
    FunctionDefinition {
        help: function_help(
            [
                "FLOOR",
                "FLOOR(number, [step])",
                "The number rounded down to a multiple of the step, which is 1 when none is given.",
            ],
            ["FLOOR(23, 5)", "20"],
        ),
        takes: number_parameters(1, 2),
        gives: GIVES,
        run: |machine, arguments| round_to_step(machine, arguments, f64::floor),
    },
    FunctionDefinition {
        help: function_help(
            [
                "MOD",
                "MOD(number, divisor)",
                "What is left of the number, with the sign of the divisor.",
            ],
            ["MOD(-7, 3)", "2"],
        ),
        takes: number_parameters(2, 2),
        gives: GIVES,
        run: |machine, arguments| {
            let (number, divisor) = (
                machine.evaluate_number(&arguments[0])?,
                machine.evaluate_number(&arguments[1])?,
            );
            if divisor == 0.0 {
                return evaluation_error("division by zero");
            }
            let rest = compute_remainder(number, divisor);
            let is_of_other_sign = rest != 0.0 && (rest < 0.0) != (divisor < 0.0);
            check_finite(if is_of_other_sign {
                rest + divisor
            } else {
                rest
            })
        },
    },
    FunctionDefinition {
        help: function_help(
            ["ABS", "ABS(number)", "The number without its sign."],
            ["ABS(-5)", "5"],
        ),
        takes: number_parameters(1, 1),
        gives: GIVES,
        run: |machine, arguments| check_finite(machine.evaluate_number(&arguments[0])?.abs()),
    },
    FunctionDefinition {
        help: function_help(
            [
                "POWER",
                "POWER(base, exponent)",
                "The base to the power of the exponent.",
            ],
            ["POWER(2, 10)", "1024"],
        ),
        takes: number_parameters(2, 2),
        gives: GIVES,
        run: |machine, arguments| {
            let (base, exponent) = (
                machine.evaluate_number(&arguments[0])?,
                machine.evaluate_number(&arguments[1])?,
            );
            match base.powf(exponent) {
                none if none.is_nan() => evaluation_error("a negative number has no such power"),
                _ if base == 0.0 && exponent < 0.0 => evaluation_error("division by zero"),
                power => check_finite(power),
            }
        },
    },
    FunctionDefinition {
        help: function_help(
            ["SQRT", "SQRT(number)", "The square root."],
            ["SQRT(81)", "9"],
        ),
        takes: number_parameters(1, 1),
        gives: GIVES,
        run: |machine, arguments| match machine.evaluate_number(&arguments[0])? {
            negative if negative < 0.0 => evaluation_error("a negative number has no square root"),
            number => check_finite(number.sqrt()),
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "SUM",
                "SUM(number, [number, ...])",
                "The sum; blanks are passed over.",
            ],
            ["SUM(1, 2, 3.5)", "6.5"],
        ),
        takes: number_parameters(1, ANY_NUMBER),
        gives: GIVES,
        run: |machine, arguments| {
            let (sum, _) = sum_non_blank(machine, arguments)?;
            check_finite(sum)
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "AVERAGE",
                "AVERAGE(number, [number, ...])",
                "The mean; blanks are passed over.",
            ],
            ["AVERAGE(2, 4, 9)", "5"],
        ),
        takes: number_parameters(1, ANY_NUMBER),
        gives: GIVES,
        run: |machine, arguments| match sum_non_blank(machine, arguments)? {
            (_, 0) => Err(ALL_BLANK),
            (sum, count) => check_finite(sum / f64::from(count)),
        },
    },
    FunctionDefinition {
        help: function_help(
            [
                "MIN",
                "MIN(value, [value, ...])",
                "The least of numbers, or the earliest of dates; blanks are passed over.",
            ],
            ["MIN(3, 1, 2)", "1"],
        ),
        takes: ORDERED,
        gives: FunctionReturn::Argument(|_, _| true),
        run: |machine, arguments| find_extreme(machine, arguments, Ordering::Less),
    },
    FunctionDefinition {
        help: function_help(
            [
                "MAX",
                "MAX(value, [value, ...])",
                "The greatest of numbers, or the latest of dates; blanks are passed over.",
            ],
            ["MAX(3, 1, 2)", "3"],
        ),
        takes: ORDERED,
        gives: FunctionReturn::Argument(|_, _| true),
        run: |machine, arguments| find_extreme(machine, arguments, Ordering::Greater),
    },
];

fn round_to_digits<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
    round: fn(f64) -> f64,
) -> EvaluationResult<'a> {
    // Beyond these a number has no digits to round.
    const MOST_DIGITS: i32 = 300;
    let number = machine.evaluate_number(&arguments[0])?;
    let digits = match arguments.get(1) {
        Some(node) => machine
            .evaluate_integer(node)?
            .clamp(-MOST_DIGITS, MOST_DIGITS),
        None => 0,
    };
    check_finite(round_to(number, digits, round))
}

fn round_to_step<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
    round: fn(f64) -> f64,
) -> EvaluationResult<'a> {
    let number = machine.evaluate_number(&arguments[0])?;
    let step = match arguments.get(1) {
        Some(node) => machine.evaluate_number(node)?.abs(),
        None => 1.0,
    };
    if step == 0.0 {
        evaluation_error("the step is zero")
    } else {
        check_finite(round(round_significant(number / step)) * step)
    }
}

/// The sum of the arguments that are not blank, and how many these are.
fn sum_non_blank<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a, (f64, u32)> {
    let (mut sum, mut largest, mut count) = (0.0, 0.0_f64, 0);
    for node in arguments {
        if let Some(CellValue::Number(number)) = machine.evaluate_optional(node)? {
            sum += number;
            largest = largest.max(number.abs());
            count += 1;
        }
    }
    Ok((round_sum(sum, largest), count))
}

/// The argument that stands so to all others; blank when all are.
fn find_extreme<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
    wanted: Ordering,
) -> EvaluationResult<'a> {
    let mut best: Option<CellValue<'a>> = None;
    for node in arguments {
        if let Some(cell) = machine.evaluate_optional(node)?
            && best
                .as_ref()
                .is_none_or(|best| compare_cells(&cell, best) == wanted)
        {
            best = Some(cell);
        }
    }
    best.ok_or(ALL_BLANK)
}
