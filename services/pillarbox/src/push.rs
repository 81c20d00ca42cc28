//! `push`: the contacts in a file become those of an integration, as one sync.

mod answer;
mod declare;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::answer::{PushBatchResponse, SyncWarnings};
use self::declare::DeclaredFields;
use crate::client::{GatewayClient, GatewayError, GatewayRequest};
use crate::report::{CommandReport, build_table};
use crate::sender_command::PushArgs;
use crate::sheet::{CONTACT, MappedColumns, TableFile, TableRow, UnknownColumnRule, map_columns};
use crate::upload::{
    BatchOutcome, RowBatch, UploadEnvelope, UploadJob, UploadProgress, UploadRun, UploadSummary,
};

/// Where the push API begins.
const BASE: &str = "/api/integrations/push/v1";

/// What an undeclared column is told.
const UNDECLARED: UnknownColumnRule =
    UnknownColumnRule::Refused("is not declared: say --declare to declare it");

/// A file on its way into an integration.
struct PushUpload<'c> {
    command: &'c PushArgs,
    client: GatewayClient,
    columns: MappedColumns,
    /// The open sync and what it has dropped so far.
    warnings: SyncWarnings,
}

#[derive(Debug, Deserialize)]
struct PushIntegration {
    limits: PushBatchLimits,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PushBatchLimits {
    records_per_batch: usize,
    bytes_per_batch: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BegunSync {
    sync_id: String,
}

/// Pushes the file, or goes on with it.
///
/// # Errors
/// When the file cannot be pushed as it is, or the service says no or nothing; the same command goes on then.
pub(crate) async fn push_file(command: &PushArgs) -> anyhow::Result<CommandReport> {
    let sheet = TableFile::open(&command.upload.file)?;
    let client = GatewayClient::new(&command.service)?;
    let integration: PushIntegration = client
        .send(&GatewayRequest::get(BASE), &UploadProgress::hidden())
        .await?;
    let declared = DeclaredFields::fetch(&client).await?;
    let columns = map_file_columns(command, &sheet, &declared)?;
    let missing = declared.undeclared_fields(&sheet, &columns);
    let mut pushing = PushUpload {
        command,
        client,
        columns,
        warnings: SyncWarnings::default(),
    };
    let envelope = UploadEnvelope {
        before: r#"{"records":["#.to_owned(),
        after: "]}".to_owned(),
        most_rows: integration.limits.records_per_batch,
        most_bytes: integration.limits.bytes_per_batch,
    };
    if command.upload.dry_run {
        let rows =
            sheet.check_rows(|row| envelope.check_row_size(pushing.encode_row(row).len()))?;
        return describe_columns(&sheet, &pushing.columns, &missing, rows);
    }
    let mut run = UploadRun::start_or_resume(&pushing, &sheet, &command.upload, envelope)?;
    let completed = run
        .run_until_stopped(async |run| pushing.run_sync(run, &declared, &missing).await)
        .await?;
    build_report(command, &run.finish()?, &completed)
}

fn map_file_columns(
    command: &PushArgs,
    sheet: &TableFile,
    declared: &DeclaredFields,
) -> anyhow::Result<MappedColumns> {
    let mut own = declared.names();
    if command.declare {
        own.extend(declared.unclaimed_semantics());
    }
    let unknown = if command.declare || command.delete {
        UnknownColumnRule::OwnColumn
    } else {
        UNDECLARED
    };
    let mappings = &command.upload.mappings;
    let mut columns = map_columns(
        &sheet.headings,
        CONTACT,
        &own,
        mappings,
        &["external_id"],
        unknown,
    )
    .or_else(|problems| bail!("{}: {}", command.upload.file.display(), problems.join("; ")))?;
    if command.delete {
        for field in &mut columns.fields {
            *field = field.take().filter(|field| field == "external_id");
        }
    }
    Ok(columns)
}

impl PushUpload<'_> {
    /// The whole sync: declares, begins, pushes what is left, completes. Each request is the same one when it is sent
    /// again after an interruption.
    async fn run_sync(
        &mut self,
        run: &mut UploadRun<'_>,
        declared: &DeclaredFields,
        missing: &[Value],
    ) -> anyhow::Result<Value> {
        let progress = run.progress();
        if !missing.is_empty() {
            run.begin_step("the columns are declared");
            declared
                .declare(&self.client, missing, &progress)
                .await
                .map_err(|error| run.handle_failure(error))?;
        }
        run.begin_step("the sync has begun");
        let body = json!({"mode": self.command.mode.as_str()}).to_string();
        let request = GatewayRequest::post(format!("{BASE}/sync"), body)
            .with_idempotency_key(run.idempotency_key("begin"));
        let begun: Result<BegunSync, _> = self.client.send(&request, &progress).await;
        let BegunSync { sync_id } =
            begun.map_err(|error| run.handle_failure(explain_error(error)))?;
        self.warnings = SyncWarnings::for_sync(sync_id.clone());
        run.post_all(self, &progress).await?;
        run.begin_step("the sync is completed");
        let body = json!({ "syncId": sync_id }).to_string();
        let request = GatewayRequest::patch(format!("{BASE}/sync"), body)
            .with_idempotency_key(run.idempotency_key("complete"));
        let completed = self.client.send(&request, &progress).await;
        completed.map_err(explain_error).context(
            "every row is pushed, but the sync is not completed: the same command completes it",
        )
    }
}

impl UploadJob for PushUpload<'_> {
    const KIND: &'static str = "push";
    const HEADINGS: &'static [&'static str] = answer::HEADINGS;

    fn unknown_phrase(&self) -> &'static str {
        "may have been taken"
    }

    fn done_before(&self) -> Option<&'static str> {
        None
    }

    fn encode_row(&self, row: &TableRow) -> String {
        let mut record = Map::new();
        let mut fields = Map::new();
        for (field, cell) in self.columns.fields.iter().zip(&row.cells) {
            let Some(field) = field else { continue };
            let value = if cell.is_empty() {
                Value::Null
            } else {
                json!(cell)
            };
            if field != "external_id" && field != "op" {
                // An empty cell is a blank, whatever stood there before.
                fields.insert(field.clone(), value);
            } else if !cell.is_empty() {
                record.insert(field.clone(), value);
            }
        }
        if self.command.delete {
            record.insert("op".to_owned(), json!("delete"));
        } else {
            record.insert("fields".to_owned(), Value::Object(fields));
        }
        Value::Object(record).to_string()
    }

    fn fingerprint(&self) -> Value {
        json!([
            self.client.base_url(),
            self.columns.fields,
            self.command.mode.as_str(),
            self.command.delete
        ])
    }

    async fn post_batch(
        &mut self,
        batch: &RowBatch,
        key: String,
        progress: &UploadProgress,
    ) -> anyhow::Result<BatchOutcome> {
        let request = GatewayRequest::post(format!("{BASE}/records"), batch.body.clone())
            .with_idempotency_key(key);
        let pushed: Result<PushBatchResponse, _> = self.client.send(&request, progress).await;
        let pushed = pushed.map_err(explain_error)?;
        let rows: Vec<answer::SentRow> = batch.rows.iter().map(|row| self.sent_row(row)).collect();
        let dropped = self
            .warnings
            .find_dropped_values(&self.client, &pushed, &rows, progress)
            .await?;
        // Contacts cost nothing.
        Ok(BatchOutcome {
            results: pushed.row_results(&rows, &dropped),
            cost_cents: Some(0),
            is_replayed: false,
            after_lost_answer: false,
        })
    }
}

impl PushUpload<'_> {
    fn sent_row(&self, row: &TableRow) -> answer::SentRow {
        let cell = |field| {
            self.columns
                .position(field)
                .map(|position| row.cells[position].clone())
        };
        let is_delete =
            self.command.delete || cell("op").is_some_and(|operation| operation == "delete");
        answer::SentRow {
            external_id: cell("external_id").unwrap_or_default(),
            is_delete,
        }
    }
}

/// What the service says, and for two of its errors what to do about it.
fn explain_error(error: GatewayError) -> anyhow::Error {
    let GatewayError::Refused { code, details, .. } = &error else {
        return error.into();
    };
    let help = match code.as_str() {
        "sync_in_progress" => format!(
            "another sync is open until {}: complete it where it was begun, or wait",
            details["expiresAt"].as_str().unwrap_or("it expires")
        ),
        "no_open_sync" => {
            "the sync of this upload has expired or was completed by somebody else: remove the journal and the results, and \
             begin anew"
                .to_owned()
        }
        _ => return error.into(),
    };
    anyhow::Error::from(error).context(help)
}

/// What a dry run shows: how each column is read, and which ones are to be declared.
fn describe_columns(
    sheet: &TableFile,
    columns: &MappedColumns,
    missing: &[Value],
    rows: u64,
) -> anyhow::Result<CommandReport> {
    let mut lines = build_table(["Column", "Heading", "Field", ""]);
    let mut mapped = Vec::new();
    for (index, (heading, field)) in sheet.headings.iter().zip(&columns.fields).enumerate() {
        let is_new = field
            .as_ref()
            .is_some_and(|field| missing.iter().any(|new| new["key"] == **field));
        let (number, mark) = (
            (index + 1).to_string(),
            if is_new { "new field" } else { "" },
        );
        lines.add_row([
            number.as_str(),
            heading,
            field.as_deref().unwrap_or("(left out)"),
            mark,
        ]);
        mapped
            .push(json!({"column": index + 1, "heading": heading, "field": field, "new": is_new}));
    }
    let text = format!(
        "{}\n\n{rows} rows can be sent. Nothing was.",
        lines.trim_fmt()
    );
    CommandReport::new(&json!({"rows": rows, "columns": mapped}), text)
}

fn build_report(
    command: &PushArgs,
    uploaded: &UploadSummary,
    completed: &Value,
) -> anyhow::Result<CommandReport> {
    let UploadSummary {
        tally,
        rows,
        results,
        ..
    } = uploaded;
    let mut text = format!("{rows} rows were pushed.");
    for (outcome, count) in tally {
        text.push_str(&format!("\n{count:>8} {outcome}"));
    }
    if command.mode.as_str() == "full" {
        text.push_str(&format!(
            "\n{:>8} marked as removed",
            completed["markedRemoved"]
        ));
    }
    text.push_str(&format!(
        "\nEach row's outcome is in {}.",
        results.display()
    ));
    CommandReport::new(
        &json!({"rows": rows, "outcomes": tally, "results": results, "sync": completed}),
        text,
    )
}
