//! A database for one test, copied from one that was migrated once.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};

static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A migrated, empty database.
pub struct Database {
    /// How to reach it.
    pub url: String,
}

/// URL of a server on which tests may make databases, as its superuser.
fn server_url() -> String {
    std::env::var("TEST_DATABASE_URL").expect("TEST_DATABASE_URL is set by ./dev test")
}

/// A connection to this URL.
pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the test database answers");
    tokio::spawn(connection);
    client
}

fn url_of(name: &str) -> String {
    let server = server_url();
    let (base, _) = server.rsplit_once('/').expect("the URL names a database");
    format!("{base}/{name}?sslmode=disable")
}

async fn template() -> String {
    let name = format!("template_{}", std::process::id());
    let server = connect(&server_url()).await;
    server.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("the template can be made");
    store::migrate(&url_of(&name)).await.expect("the migrations apply");
    name
}

impl Database {
    /// Makes a database.
    pub async fn new() -> Self {
        let template = TEMPLATE.get_or_init(template).await;
        let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let server = connect(&server_url()).await;
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
        server.batch_execute(&sql).await.expect("a database can be made");
        Self { url: url_of(&name) }
    }
}
