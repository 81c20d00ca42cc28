//! The two MCP servers: their messages and their tools. All of it is data.
//!
//! A message in reading order: [`RpcMessage::parse`] → [`RpcMethod`] → a [`McpTool`] of the server's list → a [`CallToolResult`] in a
//! [`write_rpc_response`].

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
    FormulaChangeView, FormulaError, FormulaProblem, FormulaTool, FormulaUses, FunctionsAnswer,
    FunctionsArguments, ListColumnsArguments, PREVIEW_ROWS, PREVIEW_ROWS_DEFAULT, PreviewAnswer,
    PreviewArguments, PreviewRow, PreviewSource, SaveAnswer, SaveArguments, SaveOutcome,
    page_length, read_arguments,
};
pub use id_scan::RequestIdFinder;
pub use integrations::{INTEGRATIONS_INSTRUCTIONS, INTEGRATIONS_SERVER, IntegrationTool};
pub use protocol::{InitializeResult, LATEST_VERSION, RpcMethod, ServerInfo, ToolList, VERSIONS};
pub use result::{CallToolResult, ToolFailure};
pub use rpc::{RpcError, RpcMessage, write_rpc_failure, write_rpc_response};
pub use tool::{McpTool, ToolAnnotations, ToolCall};
