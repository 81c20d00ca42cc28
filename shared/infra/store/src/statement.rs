//! How statements reach the database: prepared once for each connection, or, through a pooler that gives each
//! transaction another connection, whole each time.
//!
//! A statement without a name lives for one exchange, so it never meets another connection. It must bring the types of its
//! parameters; these are learned once for each statement, from a prepared one that comes and goes within one transaction.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use deadpool_postgres::StatementCache;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::busy::{time_statement, track_busy_time};
use crate::error::Result;
use crate::statement_name::SqlStatement;

/// Statements whose types are remembered: many times those that there are.
const REMEMBERED: usize = 2_000;

/// What stands between us and Postgres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolerMode {
    /// Nothing, or one that leaves a connection to us until we close it.
    None,
    /// One that gives each transaction any connection: PgBouncer in transaction mode. The session's settings are the
    /// pooler's to make then.
    Transaction,
}

/// How statements are sent through a pool.
#[derive(Debug, Clone)]
pub(crate) enum StatementMode {
    Prepared,
    Unnamed(Arc<LearnedTypes>),
}

/// Types of parameters, by statement.
#[derive(Debug, Default)]
pub(crate) struct LearnedTypes(RwLock<HashMap<String, Arc<[Type]>>>);

/// A statement that can be sent.
pub(crate) enum ReadyStatement {
    /// Under the name that it gets on the connection.
    Prepared,
    /// Whole, with its types.
    Unnamed(Arc<[Type]>),
}

/// Where a statement is sent.
#[derive(Clone, Copy)]
pub(crate) struct StatementSession<'c> {
    pub(crate) client: &'c Client,
    pub(crate) cache: &'c StatementCache,
}

impl StatementMode {
    pub(crate) fn for_pooler(pooler: PoolerMode) -> Self {
        match pooler {
            PoolerMode::None => Self::Prepared,
            PoolerMode::Transaction => Self::Unnamed(Arc::default()),
        }
    }

    /// The statement when nothing has to be learned for it.
    pub(crate) fn ready_statement(&self, sql: &str) -> Option<ReadyStatement> {
        match self {
            Self::Prepared => Some(ReadyStatement::Prepared),
            Self::Unnamed(learned) => learned.get(sql).map(ReadyStatement::Unnamed),
        }
    }

    /// Learns a statement's types on a connection that is in a transaction.
    pub(crate) async fn learn_types(
        &self,
        client: &Client,
        statement: SqlStatement<'_>,
    ) -> Result<ReadyStatement> {
        let Self::Unnamed(learned) = self else {
            return Ok(ReadyStatement::Prepared);
        };
        // The name is free again before the transaction ends: its end is on the way before that of the transaction.
        let prepared = track_busy_time(client.prepare(statement.sql))
            .await
            .map_err(|error| statement.to_error(error))?;
        let types: Arc<[Type]> = prepared.params().into();
        learned.insert(statement.sql, types.clone());
        Ok(ReadyStatement::Unnamed(types))
    }
}

impl LearnedTypes {
    fn get(&self, sql: &str) -> Option<Arc<[Type]>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(sql)
            .cloned()
    }

    fn insert(&self, sql: &str, types: Arc<[Type]>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() < REMEMBERED {
            all.insert(sql.to_owned(), types);
        }
    }
}

// Boxed: what awaits a statement, and what awaits that, would all carry the driver's large futures within themselves.
impl<'s> StatementSession<'s> {
    async fn prepare(self, statement: SqlStatement<'_>) -> Result<tokio_postgres::Statement> {
        let prepared = track_busy_time(self.cache.prepare(self.client, statement.sql)).await;
        prepared.map_err(|error| statement.to_error(error))
    }

    pub(crate) fn query_rows(
        self,
        ready: ReadyStatement,
        statement: SqlStatement<'s>,
        parameters: &'s [&'s (dyn ToSql + Sync)],
    ) -> BoxFuture<'s, Result<Vec<Row>>> {
        Box::pin(async move {
            match ready {
                ReadyStatement::Prepared => {
                    let prepared = self.prepare(statement).await?;
                    time_statement(
                        statement,
                        Box::pin(self.client.query(&prepared, parameters)),
                    )
                    .await
                }
                ReadyStatement::Unnamed(types) => {
                    let parameters = pair_with_types(parameters, &types);
                    time_statement(
                        statement,
                        Box::pin(self.client.query_typed(statement.sql, &parameters)),
                    )
                    .await
                }
            }
        })
    }

    pub(crate) fn query_row(
        self,
        ready: ReadyStatement,
        statement: SqlStatement<'s>,
        parameters: &'s [&'s (dyn ToSql + Sync)],
    ) -> BoxFuture<'s, Result<Option<Row>>> {
        Box::pin(async move {
            match ready {
                ReadyStatement::Prepared => {
                    let prepared = self.prepare(statement).await?;
                    time_statement(
                        statement,
                        Box::pin(self.client.query_opt(&prepared, parameters)),
                    )
                    .await
                }
                ReadyStatement::Unnamed(types) => {
                    let parameters = pair_with_types(parameters, &types);
                    time_statement(
                        statement,
                        Box::pin(self.client.query_typed_opt(statement.sql, &parameters)),
                    )
                    .await
                }
            }
        })
    }

    pub(crate) fn execute(
        self,
        ready: ReadyStatement,
        statement: SqlStatement<'s>,
        parameters: &'s [&'s (dyn ToSql + Sync)],
    ) -> BoxFuture<'s, Result<u64>> {
        Box::pin(async move {
            match ready {
                ReadyStatement::Prepared => {
                    let prepared = self.prepare(statement).await?;
                    time_statement(
                        statement,
                        Box::pin(self.client.execute(&prepared, parameters)),
                    )
                    .await
                }
                ReadyStatement::Unnamed(types) => {
                    let parameters = pair_with_types(parameters, &types);
                    time_statement(
                        statement,
                        Box::pin(self.client.execute_typed(statement.sql, &parameters)),
                    )
                    .await
                }
            }
        })
    }
}

fn pair_with_types<'p>(
    parameters: &[&'p (dyn ToSql + Sync)],
    types: &[Type],
) -> Vec<(&'p (dyn ToSql + Sync), Type)> {
    parameters
        .iter()
        .copied()
        .zip(types.iter().cloned())
        .collect()
}
