//! JSON Schemas of arguments and answers. Answers may get more properties later, so none is closed.

use audience::ColumnType;
use serde_json::{Value, json};

use super::{FORMULA_PAGE_COLUMNS, FormulaTool, PREVIEW_ROWS, PREVIEW_ROWS_DEFAULT};
use crate::mcp::schema::{
    answer, count, described, list, object, one_of, text, text_or_null, yes_no,
};

/// The schema of a tool's arguments.
pub(super) fn input(tool: FormulaTool) -> Value {
    match tool {
        FormulaTool::ListColumns => object(
            json!({
                "search": text("Only columns whose name contains this, whatever its case."),
                "after": text("nextAfter of the page before."),
                "limit": limit(FORMULA_PAGE_COLUMNS, FORMULA_PAGE_COLUMNS),
            }),
            &[],
        ),
        FormulaTool::ListFunctions => object(
            json!({
                "category": one_of(&["text", "number", "date", "logic"], "Only functions of this category."),
                "search": text("Only functions whose name or description contains this, whatever its case."),
            }),
            &[],
        ),
        FormulaTool::CheckFormula => object(
            json!({"formula": formula(), "name": text("The formula column that it is meant for, if it exists.")}),
            &["formula"],
        ),
        FormulaTool::PreviewFormula => object(preview_arguments(), &[]),
        FormulaTool::SaveFormula => object(
            json!({
                "name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The column's name."},
                "formula": formula(),
            }),
            &["name", "formula"],
        ),
        FormulaTool::ExplainFormula => object(
            json!({"name": text("The formula column's name.")}),
            &["name"],
        ),
    }
}

fn preview_arguments() -> Value {
    json!({
        "formula": formula(),
        "name": text("A formula column: computed as it is saved when formula is left out."),
        "rows": {
            "type": "array",
            "maxItems": PREVIEW_ROWS,
            "items": {"type": "object", "additionalProperties": true},
            "description": "Values by column name, each a text, a number, true, false or null. Without rows, people of the address book are shown.",
        },
        "limit": limit(PREVIEW_ROWS_DEFAULT, PREVIEW_ROWS),
    })
}

fn formula() -> Value {
    text("The formula, such as IF(lifetime_value > 500, \"VIP\", PROPER(first_name)).")
}

fn limit(default: usize, most: usize) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": most, "default": default, "description": "At most so many."})
}

/// The schema of a tool's answer, failures included.
pub(super) fn output(tool: FormulaTool) -> Value {
    answer(match tool {
        FormulaTool::ListColumns => columns(),
        FormulaTool::ListFunctions => functions(),
        FormulaTool::CheckFormula => checked(),
        FormulaTool::PreviewFormula => previewed(),
        FormulaTool::SaveFormula => saved(),
        FormulaTool::ExplainFormula => explained(),
    })
}

fn columns() -> Value {
    let kinds = ["built_in", "custom", "formula", "ai"];
    let column = object(
        json!({
            "name": text("How it is called."),
            "type": column_type(),
            "kind": one_of(&kinds, "Who fills it: every address book has built_in ones."),
            "formula": text("The formula of a formula column."),
            "prompt": text("What a language model is asked for an AI column."),
            "problem": text("Why a formula column is blank everywhere: its formula no longer fits the columns."),
        }),
        &["name", "type", "kind"],
    );
    let next_after = text_or_null("Pass it as after for the next page; null on the last one.");
    object(
        json!({"columns": list(column), "nextAfter": next_after}),
        &["columns", "nextAfter"],
    )
}

fn functions() -> Value {
    let properties = json!({
        "name": text("How it is called."),
        "category": text("text, number, date or logic."),
        "signature": text("What it takes; square brackets hold what may be left out."),
        "description": text("What it does."),
        "example": text("A whole formula."),
        "result": text("What the example gives on 2026-01-31; empty for blank."),
    });
    let function = object(
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
    object(json!({"functions": list(function)}), &["functions"])
}

fn checked() -> Value {
    let properties = json!({
        "valid": yes_no("Whether it can be saved."),
        "type": column_type(),
        "columns": column_names(),
        "problems": list(problem()),
        "warnings": described(list(problem()), "Where a valid formula is likely to give something else than is meant."),
    });
    object(properties, &["valid", "columns", "problems"])
}

fn problem() -> Value {
    let properties = json!({
        "offset": count("Where it begins, in characters from the start of the formula, from 0."),
        "length": count("How many characters it covers."),
        "excerpt": text("These characters."),
        "message": text("What is wrong and what works."),
        "suggestion": text("What to write in its place."),
    });
    object(properties, &["offset", "length", "excerpt", "message"])
}

fn previewed() -> Value {
    let row = object(
        json!({
            "values": {
                "type": "object",
                "additionalProperties": text_or_null("The value; null for blank."),
                "description": "Values of the columns that the formula uses, by name.",
            },
            "result": text_or_null("The result as text; null for blank."),
            "reason": text("Why it is blank."),
            "reasons": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Why columns that a language model fills are blank for this person, by name.",
            },
        }),
        &["values", "result"],
    );
    let properties = json!({
        "formula": formula(),
        "type": column_type(),
        "source": one_of(&["rows", "address_book"], "Where the rows come from."),
        "masked": yes_no("True when people of the address book show by the first letters, first digits and years of their values, from which the formula was computed."),
        "unknownColumns": described(
            list(json!({"type": "string"})),
            "Names in the rows that are no columns: their values are not looked at.",
        ),
        "rows": list(row),
    });
    object(properties, &["formula", "type", "source", "rows"])
}

fn saved() -> Value {
    let properties = json!({
        "name": text("The column's name as it stands."),
        "outcome": one_of(&["created", "changed", "unchanged"], "What was done."),
        "formula": formula(),
        "type": column_type(),
        "previousFormula": text("The formula before a change."),
    });
    object(properties, &["name", "outcome", "formula", "type"])
}

fn explained() -> Value {
    let campaign = object(
        json!({"id": text("Its id."), "name": text("Its name.")}),
        &["id", "name"],
    );
    let design = object(
        json!({"name": text("Its name."), "as": list(text("text, link, image or return_address."))}),
        &["name", "as"],
    );
    let used_by = object(
        json!({
            "formulas": described(list(json!({"type": "string"})), "Formula columns that are computed from it."),
            "campaigns": described(list(campaign), "Campaigns that filter on it."),
            "designs": described(list(design), "Designs that use it."),
            "isComplete": yes_no("False when there is more than was looked at."),
        }),
        &["formulas", "campaigns", "designs", "isComplete"],
    );
    let change = object(
        json!({
            "changedAt": {"type": "string", "format": "date-time"},
            "byKey": text("The name of the API key that was used."),
            "formula": text("The formula since then."),
            "previousFormula": text_or_null("The formula before; null when the column was new."),
        }),
        &["changedAt", "byKey", "formula", "previousFormula"],
    );
    let properties = json!({
        "name": text("The column's name."),
        "formula": formula(),
        "type": column_type(),
        "columns": column_names(),
        "problems": described(list(problem()), "Why it is blank everywhere, when its formula no longer fits the columns."),
        "usedBy": used_by,
        "changes": described(list(change), "Its latest changes, the newest first."),
    });
    object(
        properties,
        &[
            "name", "formula", "type", "columns", "problems", "usedBy", "changes",
        ],
    )
}

fn column_names() -> Value {
    described(
        list(json!({"type": "string"})),
        "The columns that it uses, by name.",
    )
}

fn column_type() -> Value {
    one_of(
        &ColumnType::ALL.map(ColumnType::as_str),
        "The type of its values.",
    )
}
