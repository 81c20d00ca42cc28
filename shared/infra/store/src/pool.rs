//! Connections: a bounded pool, a bound on how long to wait for one, and transactions.

use std::time::{Duration, Instant};

use bytes::Bytes;
use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use futures_util::future;
use serde::Deserialize;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::busy::{time_statement, track_busy_time};
use crate::error::{Result, StoreError};
use crate::statement::{PoolerMode, ReadyStatement, StatementMode, StatementSession};
use crate::statement_name::SqlStatement;
use crate::url::DatabaseUrl;

/// What a copy is fed with.
pub(crate) type CopySink = tokio_postgres::CopyInSink<Bytes>;

/// How to reach the database and what to ask of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// `postgres://` URL, with `sslmode` and `sslrootcert` as in libpq 16.
    pub url: String,
    /// What stands between us and Postgres.
    pub pooler: PoolerMode,
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
    statements: StatementMode,
}

/// How a pool is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// Connections that it may hold.
    pub limit: usize,
    /// Connections in use.
    pub busy: usize,
    /// Connections that wait for use.
    pub idle: usize,
    /// Tasks that wait for a connection.
    pub waiting: usize,
}

/// A transaction under way. Dropped without [`Transaction::commit`], it is rolled back.
pub struct Transaction<'a> {
    inner: deadpool_postgres::Transaction<'a>,
    statements: &'a StatementMode,
}

/// A pooled connection.
pub struct StoreConnection {
    client: Client,
    statements: StatementMode,
}

impl Store {
    /// Makes the pool. No connection is opened yet.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when the settings cannot be used.
    pub fn new(settings: &StoreSettings) -> Result<Self> {
        let DatabaseUrl {
            mut config,
            tls,
            takes_any_certificate,
        } = DatabaseUrl::parse(&settings.url)?;
        if takes_any_certificate {
            tracing::warn!(
                "sslmode=require encrypts and looks at no certificate: verify-full also makes sure of the server"
            );
        }
        config.connect_timeout(Duration::from_millis(settings.connect_timeout_ms));
        config.application_name("pillarbox");
        let manager_config = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_config(config, tls, manager_config);
        let (pooler, statement_timeout_ms) = (settings.pooler, settings.statement_timeout_ms);
        let pool = Pool::builder(manager)
            .max_size(settings.pool_size)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts {
                wait: Some(Duration::from_millis(settings.wait_timeout_ms)),
                create: Some(Duration::from_millis(settings.connect_timeout_ms)),
                recycle: Some(Duration::from_millis(settings.connect_timeout_ms)),
            })
            .post_create(deadpool_postgres::Hook::async_fn(move |client, _| {
                Box::pin(async move {
                    match pooler {
                        PoolerMode::None => prepare_session(client, statement_timeout_ms).await,
                        // What is set here would stay on a connection that the next transaction does not have.
                        PoolerMode::Transaction => Ok(()),
                    }
                })
            }))
            .build()
            .map_err(|error| StoreError::Unusable(error.to_string()))?;
        Ok(Self {
            pool,
            statements: StatementMode::for_pooler(pooler),
        })
    }

    /// A connection of the pool, waiting for one as long as the settings say.
    pub(crate) async fn client(&self) -> Result<Client> {
        let begun = Instant::now();
        let client = self.pool.get().await;
        metrics::histogram!("pillarbox_database_wait_duration_seconds")
            .record(begun.elapsed().as_secs_f64());
        if client.is_err() {
            metrics::counter!("pillarbox_database_unavailable_total").increment(1);
        }
        Ok(client?)
    }

    /// A connection to hold for a transaction.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when none can be had in time.
    pub async fn connection(&self) -> Result<StoreConnection> {
        Ok(StoreConnection {
            client: self.client().await?,
            statements: self.statements.clone(),
        })
    }

    /// How the pool is used at the moment.
    pub fn pool_status(&self) -> PoolStatus {
        let status = self.pool.status();
        PoolStatus {
            limit: status.max_size,
            busy: status.size.saturating_sub(status.available),
            idle: status.available,
            waiting: status.waiting,
        }
    }

    /// A statement that can be sent.
    pub(crate) async fn ready_statement(
        &self,
        statement: SqlStatement<'_>,
    ) -> Result<ReadyStatement> {
        match self.statements.ready_statement(statement.sql) {
            Some(ready) => Ok(ready),
            // Boxed, as it is rare and large.
            None => Box::pin(self.learn_types(statement)).await,
        }
    }

    /// Finds out what it takes to send a statement, on a connection of its own, in a transaction.
    async fn learn_types(&self, statement: SqlStatement<'_>) -> Result<ReadyStatement> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let ready = self
            .statements
            .learn_types(transaction.client(), statement)
            .await?;
        transaction.commit().await?;
        Ok(ready)
    }

    // These are no async functions: such a one does not know who calls it.

    /// Runs one statement and returns its rows.
    #[track_caller]
    pub(crate) fn query_rows<'a>(
        &'a self,
        sql: &'a str,
        parameters: SqlParameters<'a>,
    ) -> impl Future<Output = Result<Vec<Row>>> + use<'a> {
        let statement = SqlStatement::at_caller(sql);
        async move {
            let ready = self.ready_statement(statement).await?;
            statement_session(&self.client().await?)
                .query_rows(ready, statement, parameters)
                .await
        }
    }

    /// Runs one statement that gives a row or none.
    #[track_caller]
    pub(crate) fn query_row<'a>(
        &'a self,
        sql: &'a str,
        parameters: SqlParameters<'a>,
    ) -> impl Future<Output = Result<Option<Row>>> + use<'a> {
        let statement = SqlStatement::at_caller(sql);
        async move {
            let ready = self.ready_statement(statement).await?;
            statement_session(&self.client().await?)
                .query_row(ready, statement, parameters)
                .await
        }
    }

    /// Runs one statement and returns how many rows it changed.
    #[track_caller]
    pub(crate) fn execute<'a>(
        &'a self,
        sql: &'a str,
        parameters: SqlParameters<'a>,
    ) -> impl Future<Output = Result<u64>> + use<'a> {
        let statement = SqlStatement::at_caller(sql);
        async move {
            let ready = self.ready_statement(statement).await?;
            statement_session(&self.client().await?)
                .execute(ready, statement, parameters)
                .await
        }
    }
}

/// The values of a statement's parameters.
pub(crate) type SqlParameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A statement and its parameters.
pub(crate) type SqlQuery<'a> = (&'a str, SqlParameters<'a>);

/// Where statements that are no part of a transaction are sent.
pub(crate) fn statement_session(client: &Client) -> StatementSession<'_> {
    StatementSession {
        client,
        cache: &client.statement_cache,
    }
}

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
    client
        .batch_execute(&sql)
        .await
        .map_err(deadpool_postgres::HookError::Backend)
}

impl StoreConnection {
    /// Begins a transaction.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the connection was lost.
    #[track_caller]
    pub fn begin_transaction(&mut self) -> impl Future<Output = Result<Transaction<'_>>> {
        let statement = SqlStatement::at_caller("BEGIN");
        async move {
            let inner = time_statement(statement, Box::pin(self.client.transaction())).await?;
            Ok(Transaction {
                inner,
                statements: &self.statements,
            })
        }
    }
}

impl Transaction<'_> {
    /// Makes what was done lasting.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] leaves open whether it was.
    #[track_caller]
    pub fn commit(self) -> impl Future<Output = Result<()>> {
        let statement = SqlStatement::at_caller("COMMIT");
        async move { time_statement(statement, Box::pin(self.inner.commit())).await }
    }

    async fn ready_statement(&self, statement: SqlStatement<'_>) -> Result<ReadyStatement> {
        match self.statements.ready_statement(statement.sql) {
            Some(ready) => Ok(ready),
            // Boxed, as it is rare and large.
            None => Box::pin(self.statements.learn_types(self.inner.client(), statement)).await,
        }
    }

    /// A statement that takes no trip to the database but its own.
    async fn prepare_statement(&self, statement: SqlStatement<'_>) -> Result<ReadyStatement> {
        let ready = self.ready_statement(statement).await?;
        if matches!(ready, ReadyStatement::Prepared) {
            let prepared = track_busy_time(self.inner.prepare_cached(statement.sql)).await;
            prepared.map_err(|error| statement.to_error(error))?;
        }
        Ok(ready)
    }

    fn session(&self) -> StatementSession<'_> {
        StatementSession {
            client: self.inner.client(),
            cache: &self.inner.statement_cache,
        }
    }

    #[track_caller]
    pub(crate) fn query_rows<'a>(
        &'a self,
        sql: &'a str,
        parameters: SqlParameters<'a>,
    ) -> impl Future<Output = Result<Vec<Row>>> + use<'a> {
        let statement = SqlStatement::at_caller(sql);
        async move {
            self.session()
                .query_rows(
                    self.ready_statement(statement).await?,
                    statement,
                    parameters,
                )
                .await
        }
    }

    #[track_caller]
    pub(crate) fn query_row<'a>(
        &'a self,
        sql: &'a str,
        parameters: SqlParameters<'a>,
    ) -> impl Future<Output = Result<Option<Row>>> + use<'a> {
        let statement = SqlStatement::at_caller(sql);
        async move {
            self.session()
                .query_row(
                    self.ready_statement(statement).await?,
                    statement,
                    parameters,
                )
                .await
        }
    }

    /// Runs two statements, one after the other, in one trip to the database. The second sees what was committed until
    /// the first was through.
    #[track_caller]
    pub(crate) fn query_row_each<'a>(
        &'a self,
        first: SqlQuery<'a>,
        second: SqlQuery<'a>,
    ) -> impl Future<Output = Result<[Option<Row>; 2]>> + use<'a> {
        let statements = [
            SqlStatement::at_caller(first.0),
            SqlStatement::at_caller(second.0),
        ];
        async move {
            // Both are prepared before either is sent: otherwise one that is known already would overtake the other.
            let ready = [
                self.prepare_statement(statements[0]).await?,
                self.prepare_statement(statements[1]).await?,
            ];
            let ([first_ready, second_ready], session) = (ready, self.session());
            // Sent in this order, because they are polled in it.
            let rows = future::try_join(
                session.query_row(first_ready, statements[0], first.1),
                session.query_row(second_ready, statements[1], second.1),
            );
            Ok(rows.await?.into())
        }
    }

    #[track_caller]
    pub(crate) fn execute<'a>(
        &'a self,
        sql: &'a str,
        parameters: SqlParameters<'a>,
    ) -> impl Future<Output = Result<u64>> + use<'a> {
        let statement = SqlStatement::at_caller(sql);
        async move {
            self.session()
                .execute(
                    self.ready_statement(statement).await?,
                    statement,
                    parameters,
                )
                .await
        }
    }

    /// Runs statements that take no parameters and give nothing.
    #[track_caller]
    pub(crate) fn execute_batch<'a>(
        &'a self,
        sql: &'a str,
    ) -> impl Future<Output = Result<()>> + use<'a> {
        let statement = SqlStatement::at_caller(sql);
        async move {
            self.inner
                .batch_execute(sql)
                .await
                .map_err(|error| statement.to_error(error))
        }
    }

    /// Begins to copy rows in.
    #[track_caller]
    pub(crate) fn copy_in<'a>(
        &'a self,
        sql: &'a str,
    ) -> impl Future<Output = Result<CopySink>> + use<'a> {
        let statement = SqlStatement::at_caller(sql);
        async move {
            self.inner
                .copy_in(sql)
                .await
                .map_err(|error| statement.to_error(error))
        }
    }
}
