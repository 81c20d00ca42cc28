//! A database for one test, copied from one that was migrated once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use store::PROCESSES;
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};
use url::Url;

/// Makes the users of the processes: what is deployed.
const USERS: &str = include_str!("../../deploy/postgres/users.sql");

/// Names the database in settings.
const URL_SETTING: &str = "PILLARBOX__DATABASE__URL";

static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A database of a test's own.
pub struct TestDatabase {
    /// How to reach it.
    pub url: String,
}

/// URL of a server on which tests may make databases, as its superuser.
fn server_url() -> String {
    std::env::var("TEST_DATABASE_URL").expect("TEST_DATABASE_URL is set by ./dev test")
}

/// A connection to this URL.
pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls)
        .await
        .expect("the test database answers");
    tokio::spawn(connection);
    client
}

fn database_url(name: &str) -> String {
    let server = server_url();
    let (base, _) = server.rsplit_once('/').expect("the URL names a database");
    format!("{base}/{name}?sslmode=disable")
}

/// The settings for this process: it reaches the database as the user that it is deployed with, while the operator's command
/// line, and the tests themselves, are the owner of the tables.
pub fn settings_for(process: &str, settings: &HashMap<String, String>) -> HashMap<String, String> {
    let mut settings = settings.clone();
    if PROCESSES.contains(&process)
        && let Some(url) = settings.get_mut(URL_SETTING)
    {
        let mut as_user = Url::parse(url).expect("a database URL");
        as_user.set_username(process).expect("the URL has a host");
        *url = as_user.into();
    }
    settings
}

/// Makes the users of the processes on the server of this connection, with the password of the superuser's URL.
async fn create_users(server: &Client) {
    server
        .batch_execute(USERS)
        .await
        .expect("the users can be made");
    let url = Url::parse(&server_url()).expect("TEST_DATABASE_URL is a URL");
    let Some(password) = url.password() else {
        return;
    };
    for process in PROCESSES {
        let sql = format!(
            "ALTER ROLE {process} PASSWORD '{}'",
            password.replace('\'', "''")
        );
        server
            .batch_execute(&sql)
            .await
            .expect("a password can be set");
    }
}

async fn create_template() -> String {
    let name = format!("template_{}", std::process::id());
    let server = connect(&server_url()).await;
    create_users(&server).await;
    server
        .batch_execute(&format!("CREATE DATABASE {name}"))
        .await
        .expect("the template can be made");
    store::migrate_database(&database_url(&name))
        .await
        .expect("the migrations apply");
    name
}

impl TestDatabase {
    /// Makes a migrated, empty database.
    pub async fn new() -> Self {
        Self::copied_from(TEMPLATE.get_or_init(create_template).await).await
    }

    /// Makes a database without tables, on a server that has the users of the processes.
    pub async fn without_tables() -> Self {
        TEMPLATE.get_or_init(create_template).await;
        Self::copied_from("template1").await
    }

    async fn copied_from(template: &str) -> Self {
        let name = format!(
            "test_{}_{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let server = connect(&server_url()).await;
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
        server
            .batch_execute(&sql)
            .await
            .expect("a database can be made");
        Self {
            url: database_url(&name),
        }
    }
}
