//! The two MCP servers: their messages and their tools. All of it is data.
//!
//! A message in reading order: [`Message::read`] → [`Method`] → a [`Tool`] of the server's list → a [`ToolResult`] in a
//! [`response`].

mod formulas;
mod id_scan;
mod integrations;
mod protocol;
mod result;
mod rpc;
mod schema;
mod tool;

pub use formulas::{
    CampaignUse, CheckAnswer, CheckArguments, ColumnKindName, ColumnView, ColumnsAnswer, DesignUse,
    ExplainAnswer, ExplainArguments, FORMULA_PAGE_COLUMNS, FORMULAS_INSTRUCTIONS, FORMULAS_SERVER,
    FormulaChangeView, FormulaContext, FormulaError, FormulaProblem, FormulaTool, FormulaUses,
    FunctionsAnswer, FunctionsArguments, ListColumnsArguments, PREVIEW_ROWS, PREVIEW_ROWS_DEFAULT,
    PreviewAnswer, PreviewArguments, PreviewRow, PreviewSource, SaveAnswer, SaveArguments, SaveOutcome,
    page_length, read_arguments,
};
pub use id_scan::IdScan;
pub use integrations::{INTEGRATIONS_INSTRUCTIONS, INTEGRATIONS_SERVER, IntegrationTool};
pub use protocol::{InitializeResult, LATEST_VERSION, Method, ServerInfo, ToolList, VERSIONS};
pub use result::{ToolFailure, ToolResult};
pub use rpc::{Message, RpcError, failure, response};
pub use tool::{Annotations, Tool, ToolCall};
