//! The two MCP servers: the contract's rows, what the protocol's clients were measured to need, and these clients.

mod changed_types;
mod clients;
mod formulas;
mod integrations;
mod refusals;
mod schemas;
mod wire;

use pillarbox_tests::{
    ApiResponse, CrmClient, INTEGRATION_KEY, KEY, TestStack, assert_tool_result, wait_until,
};
use reqwest::Method;
use serde_json::{Value, json};

/// Where the Integrations server is.
const INTEGRATIONS: &str = "/api/integrations/push/v1/mcp";

/// Where the Formula server is.
const FORMULAS: &str = "/api/formulas/v1/mcp";

/// A Formulas only key of the tests' team.
const FORMULA_KEY: &str = "pk_fx_TestTestTestTestTestTest";

/// A client of one server that holds every result against the tool's schemas.
struct Mcp<'a> {
    stack: &'a TestStack,
    path: &'static str,
    key: &'static str,
}

impl<'a> Mcp<'a> {
    fn integrations(crm: &'a CrmClient) -> Self {
        Self {
            stack: &crm.stack,
            path: INTEGRATIONS,
            key: INTEGRATION_KEY,
        }
    }

    fn formulas(stack: &'a TestStack) -> Self {
        Self {
            stack,
            path: FORMULAS,
            key: KEY,
        }
    }

    /// The Formula server's, once a mailer takes its calls.
    async fn formulas_ready(stack: &'a TestStack) -> Self {
        let server = Self::formulas(stack);
        wait_until("a mailer takes calls of formula tools", async || {
            server.is_ready("list_functions").await
        })
        .await;
        server
    }

    /// Any request, with these headers only.
    async fn raw(
        &self,
        method: Method,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> ApiResponse {
        self.stack
            .request(
                method,
                &format!("{}{}", self.stack.url, self.path),
                headers,
                body,
            )
            .await
    }

    /// A POST with the key and what every client sends.
    async fn post(&self, headers: &[(&str, &str)], body: impl Into<reqwest::Body>) -> ApiResponse {
        let authorization = format!("Bearer {}", self.key);
        let mut all = vec![
            ("authorization", authorization.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        all.extend(headers);
        self.raw(Method::POST, &all, body).await
    }

    /// A request of JSON-RPC; its answer as it came.
    async fn request(&self, method: &str, params: Value) -> ApiResponse {
        let body = json!({"method": method, "params": params, "jsonrpc": "2.0", "id": 7});
        self.post(&[("mcp-protocol-version", "2025-11-25")], body.to_string())
            .await
    }

    /// The result of a request.
    async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["result"].clone()
    }

    /// The code of a request's error, which comes with HTTP 200.
    async fn error(&self, method: &str, params: Value) -> i64 {
        let answer = self.request(method, params).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["error"]["code"].as_i64().unwrap_or_default()
    }

    async fn tools(&self) -> Vec<Value> {
        self.result("tools/list", json!({})).await["tools"]
            .as_array()
            .unwrap()
            .clone()
    }

    /// A tool's result: what it answers, or how it failed.
    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let answer = self
            .request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        let result = answer.json()["result"].clone();
        assert!(result.is_object(), "{tool} {arguments}: {}", answer.text);
        let listed = self
            .tools()
            .await
            .into_iter()
            .find(|listed| listed["name"] == tool)
            .expect(tool);
        assert_tool_result(tool, &listed["outputSchema"], &result);
        let content = result["structuredContent"].clone();
        if result["isError"] == true {
            Err(content)
        } else {
            Ok(content)
        }
    }

    /// Whether a worker answers.
    async fn is_ready(&self, tool: &str) -> bool {
        self.request("tools/call", json!({"name": tool}))
            .await
            .json()["result"]
            .is_object()
    }

    /// The code of a tool's failure.
    async fn failure(&self, tool: &str, arguments: Value) -> String {
        let failure = self.call(tool, arguments).await.expect_err(tool);
        failure["error"].as_str().unwrap().to_owned()
    }
}
