//! The two MCP servers: their messages and their tools. All of it is data.
//!
//! A message in reading order: [`Message::read`] → [`Method`] → a [`Tool`] of the server's list → a [`ToolResult`] in a
//! [`response`].

mod integrations;
mod protocol;
mod result;
mod rpc;
mod schema;
mod tool;

pub use integrations::{INTEGRATIONS_INSTRUCTIONS, INTEGRATIONS_SERVER, IntegrationTool};
pub use protocol::{InitializeResult, LATEST_VERSION, Method, ServerInfo, ToolList, VERSIONS};
pub use result::{ToolFailure, ToolResult};
pub use rpc::{Message, RpcError, failure, response};
pub use tool::{Annotations, Tool, ToolCall};
