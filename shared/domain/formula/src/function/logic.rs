//! Conditions, choices and blanks.

use super::definition::{
    ANY_NUMBER, FunctionDefinition, FunctionHelp, FunctionParameters, FunctionReturn, ParameterKind,
};
use crate::machine::{EvaluationError, EvaluationResult, FormulaEvaluator, compare_cells};
use crate::node::ExpressionNode;
use crate::value::{CellValue, ValueType};

const CATEGORY: &str = "logic";

pub(super) static FUNCTIONS: [FunctionDefinition; 9] = [
    FunctionDefinition {
        help: FunctionHelp {
            name: "IF",
            category: CATEGORY,
            signature: "IF(condition, value, [otherwise])",
            description: "Gives the value when the condition holds, and otherwise the other one, or blank.",
            example: "IF(3 > 2, \"more\", \"less\")",
            result: "more",
        },
        takes: FunctionParameters::between(2, 3, |at, _| {
            if at == 0 {
                ParameterKind::YesNo
            } else {
                ParameterKind::Any
            }
        }),
        gives: FunctionReturn::Argument(|at, _| at > 0),
        run: evaluate_if,
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "IFS",
            category: CATEGORY,
            signature: "IFS(condition, value, [condition, value, ...], [otherwise])",
            description: "Gives the value behind the first condition that holds, and otherwise the last one, or blank.",
            example: "IFS(7 > 9, \"gold\", 7 > 5, \"silver\", \"bronze\")",
            result: "silver",
        },
        takes: FunctionParameters::between(2, ANY_NUMBER, |at, count| {
            if at % 2 == 0 && at + 1 < count {
                ParameterKind::YesNo
            } else {
                ParameterKind::Any
            }
        }),
        gives: FunctionReturn::Argument(|at, count| at % 2 == 1 || at + 1 == count),
        run: first_case,
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "SWITCH",
            category: CATEGORY,
            signature: "SWITCH(value, case, result, [case, result, ...], [otherwise])",
            description: "Gives the result behind the first case that is equal to the value, and otherwise the last one, or blank.",
            example: "SWITCH(\"TX\", \"CA\", \"California\", \"TX\", \"Texas\", \"elsewhere\")",
            result: "Texas",
        },
        takes: FunctionParameters::between(3, ANY_NUMBER, |at, count| {
            if at % 2 == 1 && at + 1 < count {
                ParameterKind::Case
            } else {
                ParameterKind::Any
            }
        }),
        gives: FunctionReturn::Argument(|at, count| at >= 2 && (at % 2 == 0 || at + 1 == count)),
        run: evaluate_switch,
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "AND",
            category: CATEGORY,
            signature: "AND(condition, [condition, ...])",
            description: "Whether all conditions hold; also written &&.",
            example: "AND(2 > 1, 3 > 2)",
            result: "yes",
        },
        takes: FunctionParameters::between(1, ANY_NUMBER, |_, _| ParameterKind::YesNo),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| machine.evaluate_short_circuit(false, arguments),
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "OR",
            category: CATEGORY,
            signature: "OR(condition, [condition, ...])",
            description: "Whether at least one condition holds; also written ||.",
            example: "OR(2 > 1, 2 > 3)",
            result: "yes",
        },
        takes: FunctionParameters::between(1, ANY_NUMBER, |_, _| ParameterKind::YesNo),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| machine.evaluate_short_circuit(true, arguments),
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "NOT",
            category: CATEGORY,
            signature: "NOT(condition)",
            description: "Whether the condition does not hold; also written !. A blank condition does not hold.",
            example: "NOT(2 > 3)",
            result: "yes",
        },
        takes: FunctionParameters::exactly(1, |_, _| ParameterKind::YesNo),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| {
            Ok(CellValue::YesNo(
                !machine.evaluate_condition(&arguments[0])?,
            ))
        },
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "ISBLANK",
            category: CATEGORY,
            signature: "ISBLANK(value)",
            description: "Whether the value is blank.",
            example: "ISBLANK(\"\")",
            result: "yes",
        },
        takes: FunctionParameters::exactly(1, |_, _| ParameterKind::Any),
        gives: FunctionReturn::Always(ValueType::YesNo),
        run: |machine, arguments| {
            Ok(CellValue::YesNo(
                machine.evaluate_optional(&arguments[0])?.is_none(),
            ))
        },
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "IFBLANK",
            category: CATEGORY,
            signature: "IFBLANK(value, [value, ...], otherwise)",
            description: "Gives the first value that is neither blank nor an error, and otherwise the last one.",
            example: "IFBLANK(\"\", \"friend\")",
            result: "friend",
        },
        takes: FunctionParameters::between(2, ANY_NUMBER, |_, _| ParameterKind::Any),
        gives: FunctionReturn::Argument(|_, _| true),
        run: first_value,
    },
    FunctionDefinition {
        help: FunctionHelp {
            name: "IFERROR",
            category: CATEGORY,
            signature: "IFERROR(value, otherwise)",
            description: "Gives the value, and the other one when the value is an error. A blank stays blank.",
            example: "IFERROR(1 / 0, 0)",
            result: "0",
        },
        takes: FunctionParameters::exactly(2, |_, _| ParameterKind::Any),
        gives: FunctionReturn::Argument(|_, _| true),
        run: |machine, arguments| match machine.evaluate(&arguments[0]) {
            Err(EvaluationError::Error(_)) => machine.evaluate(&arguments[1]),
            answer => answer,
        },
    },
];

fn evaluate_if<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    if machine.evaluate_condition(&arguments[0])? {
        return machine.evaluate(&arguments[1]);
    }
    arguments
        .get(2)
        .map_or(Err(NO_OTHERWISE), |otherwise| machine.evaluate(otherwise))
}

/// No condition holds, no case is equal, and nothing stands for that.
const NO_OTHERWISE: EvaluationError<'static> =
    EvaluationError::Nothing("no condition or case holds, and there is no other value");

fn first_case<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    for case in arguments.chunks(2) {
        match case {
            [condition, value] => {
                if machine.evaluate_condition(condition)? {
                    return machine.evaluate(value);
                }
            }
            rest => {
                return rest
                    .first()
                    .map_or(Err(NO_OTHERWISE), |otherwise| machine.evaluate(otherwise));
            }
        }
    }
    Err(NO_OTHERWISE)
}

fn evaluate_switch<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let value = machine.evaluate_optional(&arguments[0])?;
    for case in arguments[1..].chunks(2) {
        match case {
            [case, result] => {
                let is_equal = match (&value, &machine.evaluate_optional(case)?) {
                    (None, None) => true,
                    (Some(value), Some(case)) => compare_cells(value, case).is_eq(),
                    _ => false,
                };
                if is_equal {
                    return machine.evaluate(result);
                }
            }
            rest => {
                return rest
                    .first()
                    .map_or(Err(NO_OTHERWISE), |otherwise| machine.evaluate(otherwise));
            }
        }
    }
    Err(NO_OTHERWISE)
}

fn first_value<'a>(
    machine: &mut FormulaEvaluator<'a>,
    arguments: &'a [ExpressionNode],
) -> EvaluationResult<'a> {
    let (last, others) = arguments.split_last().ok_or(NO_OTHERWISE)?;
    for argument in others {
        match machine.evaluate_optional(argument) {
            Ok(Some(cell)) => return Ok(cell),
            Err(halt) if halt.is_stopped() => return Err(halt),
            Ok(None) | Err(_) => {}
        }
    }
    machine.evaluate(last)
}
