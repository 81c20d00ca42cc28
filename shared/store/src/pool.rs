//! Connections: a bounded pool, a bound on how long to wait for one, and transactions.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use futures_util::future;
use serde::Deserialize;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address_import::CopySink;
use crate::busy::busy;
use crate::error::{Result, StoreError};

/// How to reach the database and what to ask of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `postgres://` URL; `sslmode=require` asks for TLS.
    pub url: String,
    /// Connections that this process holds at most.
    pub pool_size: usize,
    /// How long a request waits for a free connection, in milliseconds.
    pub wait_timeout_ms: u64,
    /// How long to try to open a connection, in milliseconds.
    pub connect_timeout_ms: u64,
    /// How long a statement may run, in milliseconds.
    pub statement_timeout_ms: u64,
}

/// The database. Clones share the pool.
#[derive(Clone)]
pub struct Store {
    pool: Pool,
}

/// A transaction under way. Dropped without [`Transaction::commit`], it is rolled back.
pub struct Transaction<'a> {
    inner: deadpool_postgres::Transaction<'a>,
}

/// A pooled connection.
pub struct Connection {
    client: Client,
}

impl Store {
    /// Makes the pool. No connection is opened yet.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the settings cannot be used.
    pub fn new(settings: &Settings) -> Result<Self> {
        let unusable = |error: &dyn std::fmt::Display| StoreError::Unavailable(error.to_string());
        let mut config = Config::from_str(&settings.url).map_err(|error| unusable(&error))?;
        config.connect_timeout(Duration::from_millis(settings.connect_timeout_ms));
        config.application_name("pillarbox");
        let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config.clone(), tls(&config)?, manager_config);
        let statement_timeout_ms = settings.statement_timeout_ms;
        let pool = Pool::builder(manager)
            .max_size(settings.pool_size)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts {
                wait: Some(Duration::from_millis(settings.wait_timeout_ms)),
                create: Some(Duration::from_millis(settings.connect_timeout_ms)),
                recycle: Some(Duration::from_millis(settings.connect_timeout_ms)),
            })
            .post_create(deadpool_postgres::Hook::async_fn(move |client, _| {
                Box::pin(async move { prepare_session(client, statement_timeout_ms).await })
            }))
            .build()
            .map_err(|error| unusable(&error))?;
        Ok(Self { pool })
    }

    /// A connection of the pool, waiting for one as long as the settings say.
    pub(crate) async fn client(&self) -> Result<Client> {
        Ok(self.pool.get().await?)
    }

    /// A connection to hold for a transaction.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when none can be had in time.
    pub async fn connection(&self) -> Result<Connection> {
        Ok(Connection { client: self.client().await? })
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it does not.
    pub async fn ping(&self) -> Result<()> {
        self.client().await?.simple_query("SELECT 1").await?;
        Ok(())
    }

    /// Runs one statement and returns its rows.
    pub(crate) async fn rows(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let client = self.client().await?;
        let statement = busy(client.prepare_cached(sql)).await?;
        Ok(busy(client.query(&statement, parameters)).await?)
    }

    /// Runs one statement that gives a row or none.
    pub(crate) async fn row(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Option<Row>> {
        let client = self.client().await?;
        let statement = busy(client.prepare_cached(sql)).await?;
        Ok(busy(client.query_opt(&statement, parameters)).await?)
    }

    /// Runs one statement and returns how many rows it changed.
    pub(crate) async fn execute(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        let client = self.client().await?;
        let statement = busy(client.prepare_cached(sql)).await?;
        Ok(busy(client.execute(&statement, parameters)).await?)
    }
}

/// A statement and its parameters.
pub(crate) type Query<'a> = (&'a str, &'a [&'a (dyn ToSql + Sync)]);

/// What every connection has: bounds on what a statement and an abandoned transaction may hold up, and no compiled
/// plans: every statement is a short one, and compiling takes longer than any of them. One statement, because connections through a pooler may not take start-up options.
async fn prepare_session(
    client: &mut deadpool_postgres::ClientWrapper,
    statement_timeout_ms: u64,
) -> std::result::Result<(), deadpool_postgres::HookError> {
    let sql = format!(
        "SET statement_timeout = {statement_timeout_ms}; SET idle_in_transaction_session_timeout = {statement_timeout_ms}; \
         SET timezone = 'UTC'; SET jit = off"
    );
    client.batch_execute(&sql).await.map_err(deadpool_postgres::HookError::Backend)
}

pub(crate) fn tls(config: &Config) -> Result<MakeRustlsConnect> {
    let mut roots = rustls::RootCertStore::empty();
    if config.get_ssl_mode() != SslMode::Disable {
        // Certificates that cannot be read are left out; a connection that needs them then fails and says so.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Unavailable(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

impl Connection {
    /// Begins a transaction.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the connection was lost.
    pub async fn begin(&mut self) -> Result<Transaction<'_>> {
        Ok(Transaction { inner: busy(self.client.transaction()).await? })
    }
}

impl Transaction<'_> {
    /// Makes what was done lasting.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] leaves open whether it was.
    pub async fn commit(self) -> Result<()> {
        Ok(busy(self.inner.commit()).await?)
    }

    pub(crate) async fn prepare(&self, sql: &str) -> Result<Statement> {
        Ok(busy(self.inner.prepare_cached(sql)).await?)
    }

    pub(crate) async fn rows(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let statement = self.prepare(sql).await?;
        Ok(busy(self.inner.query(&statement, parameters)).await?)
    }

    pub(crate) async fn row(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Option<Row>> {
        let statement = self.prepare(sql).await?;
        Ok(busy(self.inner.query_opt(&statement, parameters)).await?)
    }

    /// Runs two statements, one after the other, in one trip to the database. The second sees what was committed until
    /// the first was through.
    pub(crate) async fn row_each(&self, first: Query<'_>, second: Query<'_>) -> Result<[Option<Row>; 2]> {
        // Both are prepared before either is sent: otherwise one that is known already would overtake the other.
        let statements = [self.prepare(first.0).await?, self.prepare(second.0).await?];
        // Sent in this order, because they are polled in it.
        let rows = future::try_join(
            self.inner.query_opt(&statements[0], first.1),
            self.inner.query_opt(&statements[1], second.1),
        );
        Ok(busy(rows).await?.into())
    }

    pub(crate) async fn execute(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        let statement = self.prepare(sql).await?;
        Ok(busy(self.inner.execute(&statement, parameters)).await?)
    }

    /// Runs statements that take no parameters and give nothing.
    pub(crate) async fn batch(&self, sql: &str) -> Result<()> {
        Ok(self.inner.batch_execute(sql).await?)
    }

    /// Begins to copy rows in.
    pub(crate) async fn copy_in(&self, sql: &str) -> Result<CopySink> {
        Ok(self.inner.copy_in(sql).await?)
    }
}
