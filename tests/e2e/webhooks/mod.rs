//! Webhook deliveries: the contract's Events, Delivery rules and Webhook endpoint, and what we add to them.

mod crash;
mod delivery;
mod email;
mod fairness;
mod mailpiece;
mod owner;
mod record;
mod safety;
mod state;

use delivering::EndpointManager;
use model::id::{EndpointId, TeamId};
use pillarbox_tests::{
    EndpointReaction, ReceivedEvent, StackOptions, TestStack, WebhookSink, build_recipient,
    list_codes, wait_until, with_qr_codes,
};

/// A stack with one card and one endpoint.
struct World {
    stack: TestStack,
    sink: WebhookSink,
    code: String,
    team: TeamId,
    endpoint: EndpointId,
}

fn failing() -> Option<EndpointReaction> {
    Some(EndpointReaction::Answer(500, "no <b>luck</b>".to_owned()))
}

impl World {
    async fn start() -> Self {
        Self::with(Vec::new()).await
    }

    async fn with(settings: Vec<(&'static str, String)>) -> Self {
        let (stack, sink) = with_qr_codes(StackOptions {
            dispatchers: 1,
            settings,
            ..StackOptions::default()
        })
        .await;
        assert_eq!(
            stack.send_recipients(&[build_recipient(1)]).await.reasons(),
            ["mailed"]
        );
        let code = list_codes(&stack).await.remove(0);
        let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
        let endpoint = stack.store.list_endpoints(team).await.unwrap()[0].endpoint_id;
        Self {
            stack,
            sink,
            code,
            team,
            endpoint,
        }
    }

    async fn scan(&self) {
        assert_eq!(self.stack.scan_code(&self.code).await.status, 302);
    }

    async fn until_received(&self, count: usize) -> Vec<ReceivedEvent> {
        wait_until("the endpoint gets it", async || {
            self.sink.count_received() >= count
        })
        .await;
        assert_eq!(self.sink.count_received(), count);
        self.sink.received()
    }

    /// Until the deliveries are in these states, in their order.
    async fn until_states(&self, states: &[&str]) {
        let list = || async {
            let rows = self
                .stack
                .sql
                .query(
                    "SELECT state FROM deliveries ORDER BY created_at, delivery_id",
                    &[],
                )
                .await;
            rows.unwrap()
                .iter()
                .map(|row| row.get::<_, String>(0))
                .collect::<Vec<_>>()
        };
        wait_until(&format!("the deliveries are {states:?}"), async || {
            list().await == states
        })
        .await;
    }

    /// Until no claimed delivery is on its way, after so many attempts.
    async fn until_attempts(&self, attempts: i64) {
        let sql =
            "SELECT coalesce(sum(attempts), 0)::bigint FROM deliveries WHERE lease_id IS NULL";
        wait_until("the attempts are recorded", async || {
            self.stack.query_count(sql).await == attempts
        })
        .await;
    }

    async fn state(&self) -> store::Endpoint {
        self.stack
            .store
            .find_endpoint(self.team, self.endpoint)
            .await
            .unwrap()
    }

    async fn deliveries(&self) -> Vec<store::DeliverySummary> {
        self.stack
            .store
            .list_deliveries(self.team, self.endpoint)
            .await
            .unwrap()
    }

    /// The operator, now.
    fn manager(&self) -> EndpointManager<'_> {
        EndpointManager::new(
            &self.stack.store,
            self.team,
            store::Actor::Operator,
            self.stack.now(),
        )
    }

    async fn pause(&self) {
        self.manager().pause(self.endpoint).await.unwrap();
    }

    async fn resume(&self) {
        self.manager().resume(self.endpoint).await.unwrap();
    }
}
