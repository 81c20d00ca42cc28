//! Databases for benchmarks, on the server that `TEST_DATABASE_URL` names.

use anyhow::Context;
use tokio_postgres::{Client, NoTls};

/// A database of this name, made anew; what an earlier run left under the name goes.
#[derive(Clone)]
pub struct Database {
    name: String,
    /// How to reach it, as a superuser.
    pub url: String,
}

/// A connection to this URL.
pub async fn connect(url: &str) -> anyhow::Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls)
        .await
        .context("the database does not answer")?;
    tokio::spawn(connection);
    Ok(client)
}

fn server_url() -> anyhow::Result<String> {
    std::env::var("TEST_DATABASE_URL").context("TEST_DATABASE_URL is set by ./dev bench")
}

impl Database {
    /// A migrated, empty database.
    pub async fn migrated(name: &str) -> anyhow::Result<Self> {
        let database = Self::create(name, "").await?;
        store::migrate_database(&database.url).await?;
        Ok(database)
    }

    /// A copy of this database as it is now. Connections to it are closed.
    pub async fn copy(&self, name: &str) -> anyhow::Result<Self> {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
        connect(&server_url()?)
            .await?
            .execute(sql, &[&self.name])
            .await?;
        Self::create(name, &format!("TEMPLATE {}", self.name)).await
    }

    async fn create(name: &str, options: &str) -> anyhow::Result<Self> {
        let server = server_url()?;
        let (base, _) = server
            .rsplit_once('/')
            .context("TEST_DATABASE_URL names no database")?;
        let database = Self {
            name: name.to_owned(),
            url: format!("{base}/{name}?sslmode=disable"),
        };
        let client = connect(&server).await?;
        client
            .batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
            .await?;
        client
            .batch_execute(&format!("CREATE DATABASE {name} {options}"))
            .await?;
        Ok(database)
    }

    /// Removes it.
    pub async fn remove(self) -> anyhow::Result<()> {
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        Ok(connect(&server_url()?).await?.batch_execute(&sql).await?)
    }

    /// A connection to it.
    pub async fn client(&self) -> anyhow::Result<Client> {
        connect(&self.url).await
    }
}
