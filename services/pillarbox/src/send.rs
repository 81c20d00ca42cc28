//! `send`: the people in a file become recipients of a campaign.

mod answer;
mod new_columns;

use anyhow::bail;
use model::limits::BODY_BYTES;
use model::money::DollarAmount;
use serde_json::{Map, Value, json};

use self::answer::SendBatchResponse;
use self::new_columns::NewBookColumns;
use crate::client::{GatewayClient, GatewayRequest, GatewayResponse};
use crate::report::{CommandReport, NOT_ALL_MAILED, build_table};
use crate::sender_command::SendArgs;
use crate::sheet::{MappedColumns, RECIPIENT, TableFile, TableRow, UnknownColumnRule, map_columns};
use crate::upload::{
    BatchOutcome, RESULTS_SUFFIX, RowBatch, UploadCost, UploadEnvelope, UploadJob, UploadProgress,
    UploadRun, UploadSummary,
};

/// Where recipients are posted.
const RECIPIENTS_PATH: &str = "/api/v1/recipients";

/// Where recipients are posted to learn what would come of them.
const DRY_RUN_PATH: &str = "/api/v1/recipients?validate=1";

/// What a card needs.
const REQUIRED: [&str; 4] = ["address_1", "city", "state", "zip"];

/// A file on its way to a campaign.
struct SendUpload<'c> {
    command: &'c SendArgs,
    client: GatewayClient,
    columns: MappedColumns,
}

/// Sends the file, or goes on with it.
///
/// # Errors
/// When the file cannot be sent as it is, or the service says no or nothing; the same command goes on then.
pub(crate) async fn send_file(command: &SendArgs) -> anyhow::Result<CommandReport> {
    let sheet = TableFile::open(&command.upload.file)?;
    let mappings = &command.upload.mappings;
    let columns = map_columns(
        &sheet.headings,
        RECIPIENT,
        &[],
        mappings,
        &REQUIRED,
        UnknownColumnRule::OwnColumn,
    )
    .or_else(|problems| bail!("{}: {}", command.upload.file.display(), problems.join("; ")))?;
    check_types(command, &columns)?;
    check_single_request(command, &sheet)?;
    let mut sending = SendUpload {
        command,
        client: GatewayClient::new(&command.service)?,
        columns,
    };
    let envelope = sending.build_envelope();
    if command.upload.dry_run {
        let rows =
            sheet.check_rows(|row| envelope.check_row_size(sending.encode_row(row).len()))?;
        let new = NewBookColumns::find(&sending.client, &sheet, &sending.columns).await;
        return describe_columns(&sheet, &sending.columns, rows, &new);
    }
    let new = NewBookColumns::find(&sending.client, &sheet, &sending.columns).await?;
    if !command.validate {
        new.confirm(command).await?;
    }
    let mut run = UploadRun::start_or_resume(&sending, &sheet, &command.upload, envelope)?;
    let progress = run.progress();
    run.run_until_stopped(async |run| run.post_all(&mut sending, &progress).await)
        .await?;
    drop(progress);
    let uploaded = run.finish()?;
    if command.validate {
        describe_validation(&uploaded, &new)
    } else {
        build_report(&uploaded)
    }
}

fn check_types(command: &SendArgs, columns: &MappedColumns) -> anyhow::Result<()> {
    for (field, _) in &command.types {
        if columns.position(field).is_none() {
            bail!("--type \"{field}\": no column fills this field");
        }
        if RECIPIENT.iter().any(|known| known.field == field) {
            bail!("--type \"{field}\": this field has its type; only custom ones can be given one");
        }
    }
    Ok(())
}

/// A sum is expected of a request, and told of nothing larger.
fn check_single_request(command: &SendArgs, sheet: &TableFile) -> anyhow::Result<()> {
    if command.expect_total.is_none() {
        return Ok(());
    }
    let (rows, most) = (sheet.check_rows(|_| Ok(()))?, command.batch);
    if rows > most.into() {
        bail!(
            "--expect-total is for a file that is one request: it has {rows} rows, and a request {most} (--batch)"
        );
    }
    Ok(())
}

impl SendUpload<'_> {
    fn build_envelope(&self) -> UploadEnvelope {
        let mut rest = Map::new();
        if !self.command.types.is_empty() {
            rest.insert(
                "field_types".to_owned(),
                self.command.types.iter().cloned().collect(),
            );
        }
        if self.command.require_variable_images {
            rest.insert("require_variable_images".to_owned(), json!(true));
        }
        if let Some(cents) = self.command.expect_total {
            rest.insert("expect_total".to_owned(), json!(cents));
        }
        if let Some(send_on) = self.command.send_on {
            rest.insert("send_on".to_owned(), json!(send_on));
        }
        rest.insert(
            "campaign_id".to_owned(),
            json!(self.command.campaign_id.to_string()),
        );
        let rest = Value::Object(rest).to_string();
        UploadEnvelope {
            before: r#"{"recipients":["#.to_owned(),
            // The rest is an object with one entry at least.
            after: format!("],{}", rest.trim_start_matches('{')),
            most_rows: self.command.batch.into(),
            most_bytes: BODY_BYTES,
        }
    }

    /// The caller's own id of a row; where the file has none, its line, so that an answer can be told apart by it.
    fn row_reference(&self, row: &TableRow) -> String {
        let own = self
            .columns
            .position("reference")
            .map(|position| row.cells[position].clone());
        own.filter(|own| !own.is_empty())
            .unwrap_or_else(|| format!("line {}", row.line))
    }
}

impl UploadJob for SendUpload<'_> {
    const KIND: &'static str = "send";
    const HEADINGS: &'static [&'static str] = answer::HEADINGS;

    fn unknown_phrase(&self) -> &'static str {
        match self.command.validate {
            true => "were only looked at",
            false => {
                "may have been mailed and charged (the service tells that answer again for 15 minutes, and for 7 days where the \
                 team has Idempotency-Key honoured)"
            }
        }
    }

    fn done_before(&self) -> Option<&'static str> {
        (!self.command.validate).then_some(answer::DUPLICATE)
    }

    fn encode_row(&self, row: &TableRow) -> String {
        let mut recipient = Map::new();
        for (field, cell) in self.columns.fields.iter().zip(&row.cells) {
            if let Some(field) = field.as_ref().filter(|_| !cell.is_empty()) {
                recipient.insert(field.clone(), json!(cell));
            }
        }
        recipient.insert("reference".to_owned(), json!(self.row_reference(row)));
        Value::Object(recipient).to_string()
    }

    fn fingerprint(&self) -> Value {
        json!([
            self.client.base_url(),
            self.columns.fields,
            self.command.validate
        ])
    }

    fn results_suffix(&self) -> &'static str {
        if self.command.validate {
            ".validated.csv"
        } else {
            RESULTS_SUFFIX
        }
    }

    async fn post_batch(
        &mut self,
        batch: &RowBatch,
        key: String,
        progress: &UploadProgress,
    ) -> anyhow::Result<BatchOutcome> {
        let request = match self.command.validate {
            // It changes nothing, and takes no key.
            true => GatewayRequest::post(DRY_RUN_PATH, batch.body.clone()),
            false => {
                GatewayRequest::post(RECIPIENTS_PATH, batch.body.clone()).with_idempotency_key(key)
            }
        };
        let GatewayResponse {
            body,
            cost_cents,
            is_replayed,
            after_lost_answer,
        } = self
            .client
            .send_with_cost::<SendBatchResponse>(&request, progress)
            .await?;
        let references: Vec<String> = batch
            .rows
            .iter()
            .map(|row| self.row_reference(row))
            .collect();
        let cost_cents = body.cost_cents().or(cost_cents);
        Ok(BatchOutcome {
            results: body.row_results(&references),
            cost_cents,
            is_replayed,
            after_lost_answer,
        })
    }
}

/// What a dry run shows: how each column is read, and which ones the address book does not have yet.
fn describe_columns(
    sheet: &TableFile,
    columns: &MappedColumns,
    rows: u64,
    new: &anyhow::Result<NewBookColumns>,
) -> anyhow::Result<CommandReport> {
    let mut lines = build_table(["Column", "Heading", "Field", ""]);
    let mut mapped = Vec::new();
    for (index, (heading, field)) in sheet.headings.iter().zip(&columns.fields).enumerate() {
        let (number, is_new) = (
            (index + 1).to_string(),
            new.as_ref().ok().map(|new| new.has(index)),
        );
        let mark = if is_new == Some(true) {
            "new column"
        } else {
            ""
        };
        lines.add_row([
            number.as_str(),
            heading,
            field.as_deref().unwrap_or("(left out)"),
            mark,
        ]);
        mapped
            .push(json!({"column": index + 1, "heading": heading, "field": field, "new": is_new}));
    }
    let mut text = format!(
        "{}\n\n{rows} rows can be sent. Nothing was.",
        lines.trim_fmt()
    );
    let notes = match new {
        Ok(new) => new.notes(),
        Err(error) => vec![format!("Which columns are new is not known: {error:#}.")],
    };
    for note in &notes {
        text.push_str(&format!("\n{note}"));
    }
    CommandReport::new(
        &json!({"rows": rows, "columns": mapped, "notes": notes}),
        text,
    )
}

fn format_outcomes(uploaded: &UploadSummary, expected: &str) -> String {
    let others = uploaded
        .tally
        .iter()
        .filter(|(outcome, _)| *outcome != expected);
    let mut text: String = others
        .map(|(outcome, count)| format!("\n{count:>8} {outcome}"))
        .collect();
    text.push_str(&format!(
        "\nEach row's outcome is in {}.",
        uploaded.results.display()
    ));
    text
}

fn count_outcome(uploaded: &UploadSummary, outcome: &str) -> u64 {
    uploaded.tally.get(outcome).copied().unwrap_or_default()
}

fn build_report(uploaded: &UploadSummary) -> anyhow::Result<CommandReport> {
    let UploadSummary {
        tally,
        rows,
        results,
        cost: UploadCost {
            cents,
            unknown_rows,
        },
    } = uploaded;
    let mailed = count_outcome(uploaded, answer::MAILED);
    let mut text = format!(
        "{mailed} of {rows} rows were mailed. They cost {}",
        DollarAmount(*cents)
    );
    if *unknown_rows > 0 {
        text.push_str(&format!(
            ", and what {unknown_rows} rows cost whose first answer was lost: see Billing"
        ));
    }
    text.push_str(&format!(".{}", format_outcomes(uploaded, answer::MAILED)));
    let value = json!({"rows": rows, "outcomes": tally, "cost_cents": cents, "rows_of_unknown_cost": unknown_rows, "results": results});
    Ok(
        CommandReport::new(&value, text)?.with_exit_code(if mailed == *rows {
            0
        } else {
            NOT_ALL_MAILED
        }),
    )
}

fn describe_validation(
    uploaded: &UploadSummary,
    new: &NewBookColumns,
) -> anyhow::Result<CommandReport> {
    let UploadSummary {
        tally,
        rows,
        results,
        cost: UploadCost { cents, .. },
    } = uploaded;
    let mailed = count_outcome(uploaded, answer::WOULD_MAIL);
    let mut text = format!(
        "{mailed} of {rows} rows would be mailed, for {}. Nobody was.{}",
        DollarAmount(*cents),
        format_outcomes(uploaded, answer::WOULD_MAIL)
    );
    for note in new.notes() {
        text.push_str(&format!("\n{note}"));
    }
    let notes = new.notes();
    CommandReport::new(
        &json!({"rows": rows, "outcomes": tally, "cost_cents": cents, "notes": notes, "results": results}),
        text,
    )
}
