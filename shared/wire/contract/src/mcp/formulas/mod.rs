//! The tools of the Formula MCP server, described for a model, with what they take and answer.

mod answers;
mod arguments;
mod error;
mod schemas;

use crate::mcp::{McpTool, ServerInfo, ToolAnnotations};

pub use answers::{
    CampaignUse, CheckAnswer, ColumnKindName, ColumnView, ColumnsAnswer, DesignUse, ExplainAnswer,
    FormulaChangeView, FormulaUses, FunctionsAnswer, PreviewAnswer, PreviewRow, PreviewSource,
    SaveAnswer, SaveOutcome,
};
pub use arguments::{
    CheckArguments, ExplainArguments, FORMULA_PAGE_COLUMNS, FunctionsArguments,
    ListColumnsArguments, PREVIEW_ROWS, PREVIEW_ROWS_DEFAULT, PreviewArguments, SaveArguments,
    page_length, read_arguments,
};
pub use error::{FormulaError, FormulaProblem};

/// How the Formula server introduces itself.
pub const FORMULAS_SERVER: ServerInfo = ServerInfo {
    name: "pillarbox-formulas",
    title: "Pillarbox Formulas",
    version: env!("CARGO_PKG_VERSION"),
};

/// What a model should know before it calls a tool of the Formula server.
pub const FORMULAS_INSTRUCTIONS: &str = "Works on the formula columns of a team's address book. A formula computes a \
    column from other columns of the same person, such as IF(lifetime_value > 500, \"VIP\", PROPER(first_name)). \
    Functions have the names known from spreadsheets; operators are + - * / % == != < <= > >= && || ! and \
    condition ? a : b; texts stand in quotes and are joined with +; there is no leading equals sign. A column is \
    written by its name, in braces when the name has spaces or signs: {Favourite plant}. Call list_columns and \
    list_functions to see what there is, check_formula while you write, preview_formula to see results, then \
    save_formula. Before you change a formula that exists, call explain_formula to see what uses it.";

/// A tool of the Formula server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormulaTool {
    /// The columns that formulas may use.
    ListColumns,
    /// The functions that formulas may use.
    ListFunctions,
    /// Is this a formula, and of what type?
    CheckFormula,
    /// What does it give for these people?
    PreviewFormula,
    /// Makes or changes a formula column.
    SaveFormula,
    /// What is it, and what uses it?
    ExplainFormula,
}

impl FormulaTool {
    /// Every tool, in the order of the list: that of a first use.
    pub const ALL: [Self; 6] = [
        Self::ListColumns,
        Self::ListFunctions,
        Self::CheckFormula,
        Self::PreviewFormula,
        Self::SaveFormula,
        Self::ExplainFormula,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ListColumns => "list_columns",
            Self::ListFunctions => "list_functions",
            Self::CheckFormula => "check_formula",
            Self::PreviewFormula => "preview_formula",
            Self::SaveFormula => "save_formula",
            Self::ExplainFormula => "explain_formula",
        }
    }

    /// The tool of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Type of the message that asks a worker for it.
    pub const fn message_kind(self) -> &'static str {
        match self {
            Self::ListColumns => "list_columns.v1",
            Self::ListFunctions => "list_functions.v1",
            Self::CheckFormula => "check_formula.v1",
            Self::PreviewFormula => "preview_formula.v1",
            Self::SaveFormula => "save_formula.v1",
            Self::ExplainFormula => "explain_formula.v1",
        }
    }

    /// The tool that a message of this type asks for.
    pub fn from_message_kind(kind: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|tool| tool.message_kind() == kind)
    }

    /// All that a client knows of it.
    pub fn describe(self) -> McpTool {
        let (title, annotations) = self.title_and_hints();
        McpTool {
            name: self.name(),
            title,
            description: self.description().to_owned(),
            input_schema: schemas::input_schema(self),
            output_schema: schemas::output_schema(self),
            annotations,
        }
    }

    const fn title_and_hints(self) -> (&'static str, ToolAnnotations) {
        match self {
            Self::ListColumns => ("List columns", ToolAnnotations::READS),
            Self::ListFunctions => ("List functions", ToolAnnotations::READS),
            Self::CheckFormula => ("Check a formula", ToolAnnotations::READS),
            Self::PreviewFormula => ("Preview a formula", ToolAnnotations::READS),
            Self::SaveFormula => ("Save a formula column", ToolAnnotations::REMOVES),
            Self::ExplainFormula => ("Explain a formula column", ToolAnnotations::READS),
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::ListColumns => {
                "Lists the columns of the address book with their types: built-in ones, the team's own, formula columns \
                 with their formulas, and columns that a language model fills. Any of them can be used in a formula. \
                 search narrows the list to names that contain a text. Pass nextAfter back as after until it is null."
            }
            Self::ListFunctions => {
                "Lists the functions that formulas may use, each with its signature, what it does, an example and the \
                 example's result. Everything not listed here does not exist. category or search narrows the list."
            }
            Self::CheckFormula => {
                "Checks a formula without saving it. The answer has valid, and then the type of the results and the \
                 columns that are used, or the problems: each with its place, the text that stands there, what is \
                 wrong, and often a suggestion to write instead. A formula that is valid can come with warnings, such as of a blank \
                 that it passes over: heed them, or say why not. Give name when the formula is meant for a column that \
                 exists, so that a formula that would use itself is found."
            }
            Self::PreviewFormula => {
                "Computes a formula without saving it. Give formula, or name for a formula column that exists. Give rows \
                 to compute on values of your own, by column name; without rows it is computed on people of the team's \
                 address book, of whom only the columns that the formula uses are shown. masked true in the answer means \
                 that their texts show by first letters, numbers by their first digit and dates by their year, from which the \
                 formula was computed too: give rows of your own to see whole results. A result that is null comes \
                 with the reason. Fails with invalid_formula, whose details list the problems."
            }
            Self::SaveFormula => {
                "Makes a formula column, or changes the formula of one. The column's values are computed when they are \
                 shown or printed, so a change takes effect at once everywhere the column is used: call explain_formula \
                 first when the column exists. Saving the same formula again changes nothing. Fails with \
                 invalid_formula (details list the problems); not_a_formula_column when the name is another column's; \
                 type_in_use when campaigns filter on the column and could not with the new type; \
                 too_many_formulas."
            }
            Self::ExplainFormula => {
                "Shows a formula column: its formula, the type of its values, the columns that it is computed from, its \
                 latest changes with the formulas before them, and what uses it: other formulas, campaigns that filter \
                 on it, and designs that print it, link with it or choose an image by it. Fails with column_not_found \
                 and not_a_formula_column."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_found_by_its_name_and_by_its_message() {
        for tool in FormulaTool::ALL {
            assert_eq!(FormulaTool::from_name(tool.name()), Some(tool));
            assert_eq!(
                FormulaTool::from_message_kind(tool.message_kind()),
                Some(tool)
            );
            assert_eq!(tool.message_kind(), format!("{}.v1", tool.name()));
        }
        assert_eq!(FormulaTool::from_message_kind("list_columns.v2"), None);
    }
}
