//! JSON Schemas of arguments and answers. Answers may get more properties later, so none is closed.

use audience::ColumnType;
use serde_json::{Value, json};

use super::{FORMULA_PAGE_COLUMNS, FormulaTool, PREVIEW_ROWS, PREVIEW_ROWS_DEFAULT};
use crate::mcp::schema::{
    answer_schema, count_schema, list_schema, nullable_text_schema, object_schema, one_of_schema,
    text_schema, with_description, yes_no_schema,
};

/// The schema of a tool's arguments.
pub(super) fn input_schema(tool: FormulaTool) -> Value {
    match tool {
        FormulaTool::ListColumns => object_schema(
            json!({
                "search": text_schema("Only columns whose name contains this, whatever its case."),
                "after": text_schema("nextAfter of the page before."),
                "limit": limit_schema(FORMULA_PAGE_COLUMNS, FORMULA_PAGE_COLUMNS),
            }),
            &[],
        ),
        FormulaTool::ListFunctions => object_schema(
            json!({
                "category": one_of_schema(&["text", "number", "date", "logic"], "Only functions of this category."),
                "search": text_schema("Only functions whose name or description contains this, whatever its case."),
            }),
            &[],
        ),
        FormulaTool::CheckFormula => object_schema(
            json!({"formula": formula_schema(), "name": text_schema("The formula column that it is meant for, if it exists.")}),
            &["formula"],
        ),
        FormulaTool::PreviewFormula => object_schema(preview_arguments_schema(), &[]),
        FormulaTool::SaveFormula => object_schema(
            json!({
                "name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The column's name."},
                "formula": formula_schema(),
            }),
            &["name", "formula"],
        ),
        FormulaTool::ExplainFormula => object_schema(
            json!({"name": text_schema("The formula column's name.")}),
            &["name"],
        ),
    }
}

fn preview_arguments_schema() -> Value {
    json!({
        "formula": formula_schema(),
        "name": text_schema("A formula column: computed as it is saved when formula is left out."),
        "rows": {
            "type": "array",
            "maxItems": PREVIEW_ROWS,
            "items": {"type": "object", "additionalProperties": true},
            "description": "Values by column name, each a text, a number, true, false or null. Without rows, people of the address book are shown.",
        },
        "limit": limit_schema(PREVIEW_ROWS_DEFAULT, PREVIEW_ROWS),
    })
}

fn formula_schema() -> Value {
    text_schema("The formula, such as IF(lifetime_value > 500, \"VIP\", PROPER(first_name)).")
}

fn limit_schema(default: usize, most: usize) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": most, "default": default, "description": "At most so many."})
}

/// The schema of a tool's answer, failures included.
pub(super) fn output_schema(tool: FormulaTool) -> Value {
    answer_schema(match tool {
        FormulaTool::ListColumns => columns_answer_schema(),
        FormulaTool::ListFunctions => functions_answer_schema(),
        FormulaTool::CheckFormula => check_answer_schema(),
        FormulaTool::PreviewFormula => preview_answer_schema(),
        FormulaTool::SaveFormula => save_answer_schema(),
        FormulaTool::ExplainFormula => explain_answer_schema(),
    })
}

fn columns_answer_schema() -> Value {
    let kinds = ["built_in", "custom", "formula", "ai"];
    let column = object_schema(
        json!({
            "name": text_schema("How it is called."),
            "type": column_type_schema(),
            "kind": one_of_schema(&kinds, "Who fills it: every address book has built_in ones."),
            "formula": text_schema("The formula of a formula column."),
            "prompt": text_schema("What a language model is asked for an AI column."),
            "problem": text_schema("Why a formula column is blank everywhere: its formula no longer fits the columns."),
        }),
        &["name", "type", "kind"],
    );
    let next_after =
        nullable_text_schema("Pass it as after for the next page; null on the last one.");
    object_schema(
        json!({"columns": list_schema(column), "nextAfter": next_after}),
        &["columns", "nextAfter"],
    )
}

fn functions_answer_schema() -> Value {
    let properties = json!({
        "name": text_schema("How it is called."),
        "category": text_schema("text, number, date or logic."),
        "signature": text_schema("What it takes; square brackets hold what may be left out."),
        "description": text_schema("What it does."),
        "example": text_schema("A whole formula."),
        "result": text_schema("What the example gives on 2026-01-31; empty for blank."),
    });
    let function = object_schema(
        properties,
        &[
            "name",
            "category",
            "signature",
            "description",
            "example",
            "result",
        ],
    );
    object_schema(json!({"functions": list_schema(function)}), &["functions"])
}

fn check_answer_schema() -> Value {
    let properties = json!({
        "valid": yes_no_schema("Whether it can be saved."),
        "type": column_type_schema(),
        "columns": column_names_schema(),
        "problems": list_schema(problem_schema()),
        "warnings": with_description(list_schema(problem_schema()), "Where a valid formula is likely to give something else than is meant."),
    });
    object_schema(properties, &["valid", "columns", "problems"])
}

fn problem_schema() -> Value {
    let properties = json!({
        "offset": count_schema("Where it begins, in characters from the start of the formula, from 0."),
        "length": count_schema("How many characters it covers."),
        "excerpt": text_schema("These characters."),
        "message": text_schema("What is wrong and what works."),
        "suggestion": text_schema("What to write in its place."),
    });
    object_schema(properties, &["offset", "length", "excerpt", "message"])
}

fn preview_answer_schema() -> Value {
    let row = object_schema(
        json!({
            "values": {
                "type": "object",
                "additionalProperties": nullable_text_schema("The value; null for blank."),
                "description": "Values of the columns that the formula uses, by name.",
            },
            "result": nullable_text_schema("The result as text; null for blank."),
            "reason": text_schema("Why it is blank."),
            "reasons": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Why columns that a language model fills are blank for this person, by name.",
            },
        }),
        &["values", "result"],
    );
    let properties = json!({
        "formula": formula_schema(),
        "type": column_type_schema(),
        "source": one_of_schema(&["rows", "address_book"], "Where the rows come from."),
        "masked": yes_no_schema("True when people of the address book show by the first letters, first digits and years of their values, from which the formula was computed."),
        "unknownColumns": with_description(
            list_schema(json!({"type": "string"})),
            "Names in the rows that are no columns: their values are not looked at.",
        ),
        "rows": list_schema(row),
    });
    object_schema(properties, &["formula", "type", "source", "rows"])
}

fn save_answer_schema() -> Value {
    let properties = json!({
        "name": text_schema("The column's name as it stands."),
        "outcome": one_of_schema(&["created", "changed", "unchanged"], "What was done."),
        "formula": formula_schema(),
        "type": column_type_schema(),
        "previousFormula": text_schema("The formula before a change."),
    });
    object_schema(properties, &["name", "outcome", "formula", "type"])
}

fn explain_answer_schema() -> Value {
    let campaign = object_schema(
        json!({"id": text_schema("Its id."), "name": text_schema("Its name.")}),
        &["id", "name"],
    );
    let design = object_schema(
        json!({"name": text_schema("Its name."), "as": list_schema(text_schema("text, link, image or return_address."))}),
        &["name", "as"],
    );
    let used_by = object_schema(
        json!({
            "formulas": with_description(list_schema(json!({"type": "string"})), "Formula columns that are computed from it."),
            "campaigns": with_description(list_schema(campaign), "Campaigns that filter on it."),
            "designs": with_description(list_schema(design), "Designs that use it."),
            "isComplete": yes_no_schema("False when there is more than was looked at."),
        }),
        &["formulas", "campaigns", "designs", "isComplete"],
    );
    let change = object_schema(
        json!({
            "changedAt": {"type": "string", "format": "date-time"},
            "byKey": text_schema("The name of the API key that was used."),
            "formula": text_schema("The formula since then."),
            "previousFormula": nullable_text_schema("The formula before; null when the column was new."),
        }),
        &["changedAt", "byKey", "formula", "previousFormula"],
    );
    let properties = json!({
        "name": text_schema("The column's name."),
        "formula": formula_schema(),
        "type": column_type_schema(),
        "columns": column_names_schema(),
        "problems": with_description(list_schema(problem_schema()), "Why it is blank everywhere, when its formula no longer fits the columns."),
        "usedBy": used_by,
        "changes": with_description(list_schema(change), "Its latest changes, the newest first."),
    });
    object_schema(
        properties,
        &[
            "name", "formula", "type", "columns", "problems", "usedBy", "changes",
        ],
    )
}

fn column_names_schema() -> Value {
    with_description(
        list_schema(json!({"type": "string"})),
        "The columns that it uses, by name.",
    )
}

fn column_type_schema() -> Value {
    one_of_schema(
        &ColumnType::ALL.map(ColumnType::as_str),
        "The type of its values.",
    )
}
