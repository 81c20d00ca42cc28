//! The fields that an integration declares.

use contract::push::FieldSemantic;
use serde::Deserialize;
use serde_json::{Value, json};

use super::BASE;
use crate::client::{GatewayClient, GatewayRequest};
use crate::sheet::{MappedColumns, RECIPIENT, TableFile};
use crate::upload::UploadProgress;

/// The declared fields as the service gives them.
#[derive(Debug, Deserialize)]
pub(super) struct DeclaredFields {
    fields: Vec<Value>,
}

impl DeclaredFields {
    /// Asks the service.
    ///
    /// # Errors
    /// As the service says.
    pub(super) async fn fetch(client: &GatewayClient) -> anyhow::Result<Self> {
        Ok(client
            .send(
                &GatewayRequest::get(format!("{BASE}/schema")),
                &UploadProgress::hidden(),
            )
            .await?)
    }

    /// Each field's key with what a column of it may be called: its label, and the names of what it means.
    pub(super) fn names(&self) -> Vec<(String, Vec<String>)> {
        let named = |field: &Value| {
            let key = field["key"].as_str()?.to_owned();
            let label = field["label"].as_str().unwrap_or_default().to_owned();
            let meant = field["semantic"]
                .as_str()
                .map(list_aliases)
                .unwrap_or_default();
            Some((key, std::iter::once(label).chain(meant).collect()))
        };
        self.fields.iter().filter_map(named).collect()
    }

    /// What contacts can have that no declared field fills, with its names: a new column of that name will.
    pub(super) fn unclaimed_semantics(&self) -> Vec<(String, Vec<String>)> {
        let is_claimed = |name: &str| {
            self.fields
                .iter()
                .any(|field| field["semantic"] == name || field["key"] == name)
        };
        let names = FieldSemantic::ALL.into_iter().map(FieldSemantic::as_str);
        names
            .filter(|name| !is_claimed(name))
            .map(|name| (name.to_owned(), list_aliases(name)))
            .collect()
    }

    /// The columns' fields that are not declared yet, as they are declared.
    pub(super) fn undeclared_fields(
        &self,
        sheet: &TableFile,
        columns: &MappedColumns,
    ) -> Vec<Value> {
        let is_declared = |key: &str| self.fields.iter().any(|field| field["key"] == key);
        let unclaimed = self.unclaimed_semantics();
        let declaration = |(heading, field): (&String, &Option<String>)| {
            let key = field
                .as_deref()
                .filter(|key| !matches!(*key, "external_id" | "op") && !is_declared(key))?;
            let semantic = unclaimed.iter().any(|(name, _)| name == key).then_some(key);
            Some(json!({"key": key, "label": heading, "type": "text", "semantic": semantic}))
        };
        sheet
            .headings
            .iter()
            .zip(&columns.fields)
            .filter_map(declaration)
            .collect()
    }

    /// Declares further fields beside those that are.
    ///
    /// # Errors
    /// As the service says.
    pub(super) async fn declare(
        &self,
        client: &GatewayClient,
        missing: &[Value],
        progress: &UploadProgress,
    ) -> anyhow::Result<()> {
        let fields: Vec<&Value> = self.fields.iter().chain(missing).collect();
        let body = json!({ "fields": fields }).to_string();
        let _: Value = client
            .send(
                &GatewayRequest::post(format!("{BASE}/schema"), body),
                progress,
            )
            .await?;
        Ok(())
    }
}

fn list_aliases(field: &str) -> Vec<String> {
    let known = RECIPIENT.iter().find(|known| known.field == field);
    let names = known.map(|known| known.aliases).unwrap_or_default();
    std::iter::once(field)
        .chain(names.iter().copied())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_field_goes_by_its_key_its_label_and_its_meaning() {
        let declared = DeclaredFields {
            fields: vec![
                json!({"key": "plz", "label": "ZIP of home", "type": "text", "semantic": "zip"}),
            ],
        };
        let names = declared.names();
        assert_eq!(names[0].0, "plz");
        assert!(
            ["ZIP of home", "zip", "postalcode"]
                .iter()
                .all(|name| names[0].1.iter().any(|known| known == name))
        );
        assert!(
            !declared
                .unclaimed_semantics()
                .iter()
                .any(|(name, _)| name == "zip")
        );
        assert!(
            declared
                .unclaimed_semantics()
                .iter()
                .any(|(name, _)| name == "city")
        );
    }
}
