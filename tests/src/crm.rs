//! A CRM that pushes its contacts.

use std::sync::atomic::{AtomicU32, Ordering};

use reqwest::Method;
use serde_json::{Value, json};

use crate::stack::{ApiResponse, StackOptions, TestStack, team_file, wait_until};

/// The key of the integration that every [`CrmClient`] speaks for.
pub const INTEGRATION_KEY: &str = "pk_int_TestTestTestTestTestTe";

/// A stack with one syncer and one integration, and its client.
pub struct CrmClient {
    /// What it runs on.
    pub stack: TestStack,
    key: String,
    keys: AtomicU32,
}

impl CrmClient {
    /// An integration that declared `first` (first name), `mail` (e-mail), `score` (number) and `since` (date).
    pub async fn start() -> Self {
        let crm = Self::with_settings(Vec::new()).await;
        crm.declare_usual_fields().await;
        crm
    }

    /// Declares what [`CrmClient::start`] says.
    pub async fn declare_usual_fields(&self) {
        let fields = json!([
            {"key": "first", "semantic": "first_name"},
            {"key": "mail", "semantic": "email"},
            {"key": "score", "type": "number"},
            {"key": "since", "type": "date"},
        ]);
        let declared = self.declare_fields(fields).await;
        assert_eq!(declared.status, 200, "{}", declared.text);
    }

    /// An integration that declared nothing, on a stack with these settings.
    pub async fn with_settings(settings: Vec<(&'static str, String)>) -> Self {
        let crm = Self::with_syncers(settings, 1).await;
        crm.wait_until_ready().await;
        crm
    }

    /// As [`CrmClient::with_settings`], with so many syncers and without waiting for them.
    pub async fn with_syncers(settings: Vec<(&'static str, String)>, syncers: usize) -> Self {
        let options = StackOptions {
            settings,
            mailers: 0,
            syncers,
            ..StackOptions::default()
        };
        let crm = Self::on_stack(TestStack::with_options(options).await, INTEGRATION_KEY);
        crm.apply_integration(json!({})).await;
        crm
    }

    /// The client that holds this key of an integration on this stack.
    pub fn on_stack(stack: TestStack, key: &str) -> Self {
        Self {
            stack,
            key: key.to_owned(),
            keys: AtomicU32::new(0),
        }
    }

    /// Waits until a syncer answers.
    pub async fn wait_until_ready(&self) {
        wait_until("the gateway finds a syncer", async || {
            self.validate_records(&[]).await.status == 200
        })
        .await;
    }

    /// Gives the integration these settings; see the file format of `pillarbox apply`.
    pub async fn apply_integration(&self, settings: Value) -> Value {
        let mut integration = json!({
            "name": "CRM",
            "keys": [{"name": "Tests", "key": INTEGRATION_KEY}],
        });
        let (Some(all), Value::Object(settings)) = (integration.as_object_mut(), settings) else {
            panic!("settings are an object");
        };
        all.extend(settings);
        self.stack
            .apply_team(team_file(json!({"integrations": [integration]})))
            .await
    }

    /// A request with these headers instead of the usual ones.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> ApiResponse {
        let url = format!("{}/api/integrations/push/v1{path}", self.stack.url);
        self.stack.request(method, &url, headers, body).await
    }

    /// A request with the integration's key and this `Idempotency-Key`.
    pub async fn request_with_key(
        &self,
        method: Method,
        path: &str,
        key: &str,
        body: &Value,
    ) -> ApiResponse {
        let authorization = format!("Bearer {}", self.key);
        let headers = [
            ("authorization", authorization.as_str()),
            ("idempotency-key", key),
        ];
        self.request(method, path, &headers, body.to_string()).await
    }

    /// A new `Idempotency-Key`.
    pub fn new_idempotency_key(&self) -> String {
        format!("key-{}", self.keys.fetch_add(1, Ordering::Relaxed))
    }

    /// GET.
    pub async fn get(&self, path: &str) -> ApiResponse {
        let authorization = format!("Bearer {}", self.key);
        self.request(
            Method::GET,
            path,
            &[("authorization", &authorization)],
            String::new(),
        )
        .await
    }

    /// Declares fields.
    pub async fn declare_fields(&self, fields: Value) -> ApiResponse {
        self.request_with_key(Method::POST, "/schema", "", &json!({ "fields": fields }))
            .await
    }

    /// Begins a sync.
    pub async fn begin_sync(&self, mode: &str) -> ApiResponse {
        self.request_with_key(
            Method::POST,
            "/sync",
            &self.new_idempotency_key(),
            &json!({ "mode": mode }),
        )
        .await
    }

    /// Pushes records.
    pub async fn push_records(&self, records: &[Value]) -> ApiResponse {
        self.request_with_key(
            Method::POST,
            "/records",
            &self.new_idempotency_key(),
            &json!({ "records": records }),
        )
        .await
    }

    /// Pushes records, dry.
    pub async fn validate_records(&self, records: &[Value]) -> ApiResponse {
        self.request_with_key(
            Method::POST,
            "/records?validate=1",
            "",
            &json!({ "records": records }),
        )
        .await
    }

    /// Completes the open sync.
    pub async fn complete_sync(&self, body: Value) -> ApiResponse {
        self.request_with_key(Method::PATCH, "/sync", &self.new_idempotency_key(), &body)
            .await
    }

    /// A whole sync with these records; returns the answer of its completion.
    pub async fn run_sync(&self, mode: &str, records: &[Value]) -> Value {
        for answer in [
            self.begin_sync(mode).await,
            self.push_records(records).await,
        ] {
            assert_eq!(answer.status, 200, "{}", answer.text);
        }
        let completed = self.complete_sync(json!({})).await;
        assert_eq!(completed.status, 200, "{}", completed.text);
        completed.json()
    }

    /// External ids and values of the contacts that stand, by external id.
    pub async fn list_contacts(&self) -> Vec<(String, Value)> {
        let sql = "SELECT external_id, fields FROM contacts WHERE removed_at IS NULL ORDER BY external_id";
        let rows = self.stack.sql.query(sql, &[]).await.expect(sql);
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    /// External ids of the contacts that stand.
    pub async fn list_external_ids(&self) -> Vec<String> {
        self.list_contacts()
            .await
            .into_iter()
            .map(|(id, _)| id)
            .collect()
    }
}

impl ApiResponse {
    /// Status and `code` of an error of the push API.
    pub fn push_error(&self) -> (u16, String) {
        let code = self.json()["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        (self.status.as_u16(), code)
    }
}
