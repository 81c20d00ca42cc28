//! `bench console`: how long each page takes at the server, with a million recipients in the campaign.

use std::time::Instant;

use anyhow::{Context, ensure};
use chrono::Utc;
use model::id::TeamId;
use pillarbox_tests::PASSWORD;
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::redirect::Policy;
use secret::Password;
use store::MemberRole;
use tokio_postgres::Client;

use crate::database::Database;
use crate::figures::Figure;
use crate::fleet::Fleet;
use crate::load::{CAMPAIGNS, places, provision, store};
use crate::samples::Samples;
use crate::step;

/// The ids that the services make, for entries and addresses by their number.
const IDS: &str = include_str!("send/history/ids.sql");

/// The million.
const SEED: &str = include_str!("console/seed.sql");

/// Milliseconds that a page may take.
const BOUND_MS: f64 = 50.0;

/// Times that each page is asked for, the first ones only to warm up.
const ROUNDS: usize = 110;
const WARM_UP: usize = 10;

/// Pages that are paged through to the one that is measured.
const PAGES_DEEP: usize = 50;

/// Who signs in.
const EMAIL: &str = "owner@example.com";

/// Measures every page.
pub async fn run() -> anyhow::Result<Vec<Figure>> {
    step("prepare a million recipients with entries and cards");
    let database = Database::migrated("bench_console").await?;
    provision(&database).await?;
    let client = database.client().await?;
    seed(&client).await?;
    join(&database).await?;
    let mut fleet = Fleet::start(&database, 0).await?;
    let browser = Browser::sign_in(&fleet.add_console().await?).await?;
    let mut figures = Vec::new();
    for (name, path) in pages(&client, &browser).await? {
        figures.extend(crate::tell(measure(&browser, name, &path).await?));
    }
    drop(fleet);
    drop(client);
    database.remove().await?;
    Ok(figures)
}

async fn seed(client: &Client) -> anyhow::Result<()> {
    client.batch_execute("SET synchronous_commit = off").await?;
    client.batch_execute(IDS).await?;
    let zips: Vec<String> = places(1..100_000)
        .into_iter()
        .map(|place| place.zip)
        .collect();
    let sql = "INSERT INTO earlier_zips SELECT * FROM unnest($1::text[]) WITH ORDINALITY";
    client.execute(sql, &[&zips]).await?;
    client.batch_execute(SEED).await?;
    // What the load leaves to be written is not what a page waits for.
    client.batch_execute("VACUUM ANALYZE").await?;
    Ok(client.batch_execute("CHECKPOINT").await?)
}

/// The owner of the team.
async fn join(database: &Database) -> anyhow::Result<TeamId> {
    let store = store(database)?;
    let team = store.list_teams("", 1).await?.pop().context("a team")?;
    let hash = Password::try_from(PASSWORD.to_owned())
        .map_err(anyhow::Error::msg)?
        .hash()
        .map_err(anyhow::Error::msg)?;
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    transaction
        .save_member(
            team.team_id,
            EMAIL,
            "Ada Marsh",
            MemberRole::Owner,
            Some(&hash),
            Utc::now(),
        )
        .await?;
    transaction.commit().await?;
    Ok(team.team_id)
}

/// The pages by what they are called, with their addresses.
async fn pages(client: &Client, browser: &Browser) -> anyhow::Result<Vec<(&'static str, String)>> {
    let campaign = format!("/campaigns/{}", CAMPAIGNS[0]);
    let recipients = format!("{campaign}/recipients");
    let id =
        async |sql: &str| anyhow::Ok(client.query_one(sql, &[]).await?.get::<_, uuid::Uuid>(0));
    let entry =
        id("SELECT entry_id FROM address_entries ORDER BY entry_id OFFSET 1000 LIMIT 1").await?;
    let charge = id("SELECT charge_id FROM charges ORDER BY charge_id LIMIT 1").await?;
    let design = id("SELECT design_id FROM designs LIMIT 1").await?;
    Ok(vec![
        ("home", "/".to_owned()),
        ("campaigns", "/campaigns".to_owned()),
        ("a campaign", campaign.clone()),
        ("recipients", recipients.clone()),
        ("recipients, page 51", browser.deep(&recipients).await?),
        (
            "recipients of an outcome",
            format!("{recipients}?outcome=duplicate_recent"),
        ),
        (
            "recipients, page 51 of an outcome",
            browser
                .deep(&format!("{recipients}?outcome=invalid_address"))
                .await?,
        ),
        ("recipients by name", format!("{recipients}?text=ortiz99")),
        (
            "recipients by a letter and an outcome",
            format!("{recipients}?text=m&outcome=duplicate_recent"),
        ),
        ("conditions", format!("{campaign}/conditions")),
        ("the map area", format!("{campaign}/area")),
        ("do-not-mail list", format!("{campaign}/do-not-mail")),
        ("address book", "/address-book".to_owned()),
        (
            "address book, page 51",
            browser.deep("/address-book").await?,
        ),
        (
            "address book by name",
            "/address-book?search=Miles8".to_owned(),
        ),
        ("a person", format!("/address-book/entries/{entry}")),
        ("columns", "/address-book/columns".to_owned()),
        ("designs", "/designs".to_owned()),
        ("a design", format!("/designs/{design}")),
        ("integrations", "/integrations".to_owned()),
        ("keys", "/keys".to_owned()),
        ("webhooks", "/endpoints".to_owned()),
        ("billing", "/billing".to_owned()),
        ("charges", "/billing/charges".to_owned()),
        ("a charge", format!("/billing/charges/{charge}")),
        ("team", "/team".to_owned()),
        ("activity", "/activity".to_owned()),
    ])
}

async fn measure(browser: &Browser, name: &str, path: &str) -> anyhow::Result<Vec<Figure>> {
    let mut samples = Samples::default();
    for round in 0..ROUNDS {
        let begun = Instant::now();
        browser.get(path).await?;
        if round >= WARM_UP {
            samples.push(begun.elapsed());
        }
    }
    Ok(vec![
        Figure::new(format!("{name}, median"), samples.median_ms(), "ms").at_most(BOUND_MS),
        Figure::new(
            format!("{name}, 99 of 100"),
            samples.percentile_ms(99),
            "ms",
        )
        .at_most(BOUND_MS),
    ])
}

/// Somebody who is signed in.
struct Browser {
    client: reqwest::Client,
    url: String,
    cookie: String,
}

impl Browser {
    async fn sign_in(url: &str) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .build()?;
        let form = [("email", EMAIL), ("password", PASSWORD)];
        let answer = client
            .post(format!("{url}/sign-in"))
            .header("sec-fetch-site", "same-origin")
            .form(&form)
            .send()
            .await?;
        let cookie = answer
            .headers()
            .get(SET_COOKIE)
            .context("a session")?
            .to_str()?;
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Ok(Self {
            client,
            url: url.to_owned(),
            cookie,
        })
    }

    /// The HTML of a page, whole.
    async fn get(&self, path: &str) -> anyhow::Result<String> {
        let request = self
            .client
            .get(format!("{}{path}", self.url))
            .header(COOKIE, &self.cookie);
        let answer = request.send().await?;
        let status = answer.status();
        let html = answer.text().await?;
        ensure!(status.is_success(), "{path} answers {status}: {html}");
        Ok(html)
    }

    /// The address of a page far behind this one.
    async fn deep(&self, path: &str) -> anyhow::Result<String> {
        let mut path = path.to_owned();
        for _ in 0..PAGES_DEEP {
            let html = self.get(&path).await?;
            let (before, _) = html
                .split_once("\" rel=\"next\"")
                .with_context(|| format!("{path} has no next page"))?;
            let (_, next) = before
                .rsplit_once("href=\"")
                .context("a link has an address")?;
            path = next.replace("&#38;", "&").replace("&amp;", "&");
        }
        Ok(path)
    }
}
