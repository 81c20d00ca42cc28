//! Failure drills: what happens to a load when parts of the system go, one kind of failure at a time. Each prints what was
//! recorded, answered, lost and doubled.

mod broker;
mod clock;
mod cluster;
mod kills;
mod outage;
mod postgres;
mod probes;
mod rolling;

use std::time::Duration;

use pillarbox_tests::{
    FleetProcess, LoadGenerator, LoadReport, LoadRetryPolicy, LoadTally, PrivateServers, TestStack,
    wait_until,
};
use serde_json::json;

/// One gateway and one mailer on servers of their own, under a load whose clients repeat what fails.
struct Drill {
    servers: PrivateServers,
    stack: TestStack,
    load: LoadGenerator,
    _members: Vec<FleetProcess>,
}

impl Drill {
    async fn start() -> Self {
        let servers = PrivateServers::start().await;
        let mut settings = vec![
            ("MAILER__LEASE_MS", "1500".to_owned()),
            ("GATEWAY__CALL_DEADLINE_MS", "5000".to_owned()),
            ("DATABASE__STATEMENT_TIMEOUT_MS", "3000".to_owned()),
        ];
        settings.extend(servers.settings());
        Self::on(servers, settings).await
    }

    async fn on(servers: PrivateServers, mut settings: Vec<(&'static str, String)>) -> Self {
        for limit in [
            "GATEWAY__REQUESTS_PER_MINUTE_PER_KEY",
            "GATEWAY__REQUESTS_PER_MINUTE_PER_SOURCE",
        ] {
            settings.push((limit, "100000".to_owned()));
        }
        let stack = TestStack::on_servers(settings).await;
        stack.save_campaign(json!({})).await;
        let members = vec![
            FleetProcess::start("gateway", &stack.settings),
            FleetProcess::start("mailer", &stack.settings),
        ];
        for member in &members {
            member.wait_until_ready().await;
        }
        let load = LoadGenerator::start(&[members[0].url()], 3, LoadRetryPolicy::Repeated);
        let drill = Self {
            servers,
            stack,
            load,
            _members: members,
        };
        drill.until_more_cards("the load begins").await;
        drill
    }

    /// Until the load gets further than it is now. The connection for looking is new each time: the drill may cut it.
    async fn until_more_cards(&self, what: &str) {
        let url = &self.stack.settings["PILLARBOX__DATABASE__URL"];
        let before = std::sync::Mutex::new(None);
        wait_until(what, async || {
            let Some(now) = cards(url).await else {
                return false;
            };
            let before = *before.lock().unwrap().get_or_insert(now);
            now >= before + 30
        })
        .await;
    }

    /// Ends the load and proves that nothing was lost or doubled.
    async fn end(self, name: &str) {
        let sent: LoadReport = self.load.finish().await;
        let stack = self.stack.reconnect().await;
        wait_until("nothing stays open", async || {
            stack
                .query_count("SELECT count(*) FROM sends WHERE state = 'reserved'")
                .await
                == 0
        })
        .await;
        LoadTally::compare(&stack, &sent)
            .await
            .print_and_assert(name, &sent);
        stack.assert_consistent().await;
    }
}

/// Settings of gateways that all clients reach through one source.
fn behind_a_balancer() -> [(&'static str, String); 4] {
    [
        ("GATEWAY__REQUESTS_PER_MINUTE_PER_KEY", "100000".to_owned()),
        (
            "GATEWAY__REQUESTS_PER_MINUTE_PER_SOURCE",
            "100000".to_owned(),
        ),
        (
            "GATEWAY__PUSH_REQUESTS_PER_MINUTE_PER_SOURCE",
            "100000".to_owned(),
        ),
        ("GATEWAY__TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
    ]
}

/// How many cards there are; `None` when the database does not say.
async fn cards(url: &str) -> Option<i64> {
    let ask = async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
            .await
            .ok()?;
        tokio::spawn(connection);
        client
            .query_one("SELECT count(*) FROM mailpieces", &[])
            .await
            .ok()
            .map(|row| row.get(0))
    };
    tokio::time::timeout(Duration::from_secs(2), ask)
        .await
        .ok()
        .flatten()
}
