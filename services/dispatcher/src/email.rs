//! Sending e-mails: over SMTP, or into a folder.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use chrono::TimeDelta;
use lettre::message::{Mailbox, header::ContentType};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use runtime::{Process, config};
use store::{LeasedEmail, StoreError};
use url::Url;

/// Time to hand an e-mail over.
const SEND_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a taken e-mail is nobody else's; longer than sending takes.
const LEASE: TimeDelta = TimeDelta::seconds(60);

/// E-mails sent in one go before the stop is looked at again.
const EMAILS: usize = 100;

/// A way to send e-mails.
pub(crate) struct EmailSender {
    from: Mailbox,
    way: EmailTransport,
}

enum EmailTransport {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Folder(PathBuf),
}

impl EmailSender {
    pub(crate) fn new(settings: &config::EmailSettings) -> anyhow::Result<Self> {
        let from = settings.from.parse().context("email.from")?;
        let way = if settings.smtp_url.is_empty() {
            EmailTransport::Folder(settings.outbox_folder.clone())
        } else {
            refuse_password_in_the_clear(&settings.smtp_url)?;
            let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(&settings.smtp_url);
            EmailTransport::Smtp(
                transport
                    .context("email.smtp_url")?
                    .timeout(Some(SEND_TIMEOUT))
                    .build(),
            )
        };
        Ok(Self { from, way })
    }

    async fn send(&self, email: &LeasedEmail) -> anyhow::Result<()> {
        let mut message = Message::builder()
            .from(self.from.clone())
            .subject(&email.subject)
            .header(ContentType::TEXT_PLAIN);
        for recipient in &email.recipients {
            message = message.to(recipient
                .parse()
                .with_context(|| format!("the address {recipient}"))?);
        }
        // The same id whenever it is tried again, so that a copy can be told from another e-mail.
        let message_id = format!("<{}@pillarbox>", email.email_id);
        let message = message
            .message_id(Some(message_id))
            .body(email.body.clone())?;
        match &self.way {
            EmailTransport::Smtp(transport) => {
                transport.send(message).await.map(drop).context("SMTP")
            }
            EmailTransport::Folder(folder) => write(folder, email, &message.formatted()).await,
        }
    }
}

/// A URL with a password must make the connection secure before the password is told.
fn refuse_password_in_the_clear(smtp_url: &str) -> anyhow::Result<()> {
    let url = Url::parse(smtp_url).context("email.smtp_url")?;
    let asks_for_tls = url.scheme() == "smtps"
        || url
            .query_pairs()
            .any(|(name, value)| name == "tls" && value == "required");
    ensure!(
        asks_for_tls || url.password().is_none(),
        "email.smtp_url has a password, so it must be smtps://... or end with ?tls=required"
    );
    Ok(())
}

/// Writes an e-mail as a file that mail programs open. Whoever reads the folder sees whole files only.
async fn write(folder: &Path, email: &LeasedEmail, bytes: &[u8]) -> anyhow::Result<()> {
    tokio::fs::create_dir_all(folder)
        .await
        .with_context(|| format!("the folder {}", folder.display()))?;
    let path = folder.join(format!("{}.eml", email.email_id));
    let unfinished = path.with_extension("part");
    tokio::fs::write(&unfinished, bytes)
        .await
        .with_context(|| format!("{}", unfinished.display()))?;
    tokio::fs::rename(&unfinished, &path)
        .await
        .with_context(|| format!("{}", path.display()))
}

/// Sends what is due until the process is to stop.
pub(crate) async fn run(process: &Process, mail: &EmailSender) {
    let interval = Duration::from_millis(process.config.dispatcher.sweep_interval_ms);
    let mut looks = tokio::time::interval(interval);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = process.shutdown.cancelled() => return,
        }
        if let Err(error) = send_due(process, mail).await {
            tracing::warn!(error = &error as &dyn Error, "cannot look for e-mails");
        }
    }
}

async fn send_due(process: &Process, mail: &EmailSender) -> Result<(), StoreError> {
    let (store, settings) = (&process.store, &process.config.email);
    for _ in 0..EMAILS {
        // A server that hangs costs each e-mail its whole time.
        if process.shutdown.is_cancelled() {
            break;
        }
        let now = process.clock.now();
        let Some(email) = store
            .claim_due_email(now, now + LEASE, settings.attempts)
            .await?
        else {
            break;
        };
        let (team_id, email_id) = (email.team_id, email.email_id);
        if email.recipients.is_empty() {
            tracing::warn!(%team_id, subject = email.subject, "the team has no owner or admin to write to");
            store.complete_email(team_id, email_id, now).await?;
            continue;
        }
        let sent = tokio::time::timeout(SEND_TIMEOUT, mail.send(&email)).await;
        let sent = sent.map_err(anyhow::Error::from).flatten();
        let result = if sent.is_ok() { "sent" } else { "failed" };
        metrics::counter!("pillarbox_emails_total", "result" => result).increment(1);
        match sent {
            Ok(()) => {
                tracing::info!(%team_id, %email_id, subject = email.subject, "sent an e-mail");
                store
                    .complete_email(team_id, email_id, process.clock.now())
                    .await?;
            }
            Err(error) => {
                let attempts = email.attempts;
                tracing::error!(%team_id, %email_id, attempts, error = &*error as &dyn Error, "an e-mail was not sent");
                let due_at = process.clock.now() + TimeDelta::milliseconds(settings.pause_ms);
                store.retry_email_at(team_id, email_id, due_at).await?;
            }
        }
    }
    Ok(())
}
