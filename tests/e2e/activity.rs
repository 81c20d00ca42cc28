//! What the operator changes of a team is in the team's activity log, as what its members change: by each command, by a file,
//! and once.

use model::id::{ActivityId, TeamId};
use pillarbox_tests::{StackOptions, TestStack, WebhookSink, run_operator_command};
use serde_json::{Value, json};
use store::{Activity, ActivityFilter, EndpointState, StoreError};

/// Activities that a test of this file looks at.
const LOOKED_AT: i64 = 100;

/// A team of its own, and what of its log was looked at.
struct TeamLog {
    stack: TestStack,
    team_id: TeamId,
    seen: Option<ActivityId>,
}

impl TeamLog {
    /// A team that the command line has made.
    async fn start() -> Self {
        let stack = TestStack::with_options(StackOptions::default()).await;
        let made = command(&stack, &["team", "create", "Orchard"]);
        let team_id = made["team_id"].as_str().unwrap().parse().unwrap();
        Self {
            stack,
            team_id,
            seen: None,
        }
    }

    /// What was recorded since it was asked for last: what was done, and to what; all by the operator.
    async fn news(&mut self) -> Vec<(String, String)> {
        let activities = self
            .stack
            .store
            .list_activities(self.team_id, &ActivityFilter::default(), None, LOOKED_AT)
            .await
            .unwrap();
        let seen = self.seen;
        self.seen = activities.first().map(|newest| newest.activity_id);
        let is_news = |activity: &Activity| seen.is_none_or(|seen| activity.activity_id > seen);
        let mut news: Vec<_> = activities.into_iter().filter(is_news).collect();
        news.reverse();
        let told = |activity: Activity| {
            assert_eq!(activity.user_name, "Operator", "{activity:?}");
            (activity.action, activity.subject)
        };
        news.into_iter().map(told).collect()
    }

    /// Runs a command, which answers with JSON, and asserts what it records.
    async fn records(&mut self, arguments: &[&str], expected: &[(&str, &str)]) -> Value {
        let answer = command(&self.stack, arguments);
        let expected: Vec<_> = expected
            .iter()
            .map(|(action, subject)| ((*action).to_owned(), (*subject).to_owned()))
            .collect();
        assert_eq!(self.news().await, expected, "{arguments:?}");
        answer
    }
}

fn command(stack: &TestStack, arguments: &[&str]) -> Value {
    let mut settings = stack.settings.clone();
    let password = "correct horse battery staple".to_owned();
    settings.insert("PILLARBOX_PASSWORD".to_owned(), password);
    let arguments = [&["--json"], arguments].concat();
    let answer = tokio::task::block_in_place(|| run_operator_command(&arguments, &settings));
    serde_json::from_str(&answer).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_command_on_people_keys_and_money_is_recorded_once() {
    let mut log = TeamLog::start().await;
    let news = log.news().await;
    assert_eq!(news, [("team.created".to_owned(), "Orchard".to_owned())]);

    let user = |role: &'static str, name: &'static str| {
        [
            "user",
            "create",
            "Orchard",
            "ann@example.com",
            "--name",
            name,
            "--role",
            role,
        ]
    };
    log.records(&user("member", "Ann"), &[("person.added", "Ann as member")])
        .await;
    log.records(&user("member", "Ann"), &[]).await;
    log.records(
        &user("admin", "Anna"),
        &[
            ("person.renamed", "Anna, Ann before"),
            ("person.role_changed", "Anna, member before, admin now"),
        ],
    )
    .await;
    log.records(
        &["user", "set-password", "ann@example.com"],
        &[("person.password_set", "Anna")],
    )
    .await;

    let create = [
        "key", "create", "Orchard", "--name", "Website", "--kind", "formulas",
    ];
    let key = log.records(&create, &[("key.created", "Website")]).await;
    let key_id = key["key_id"].as_str().unwrap();
    let revoke = ["key", "revoke", "Orchard", key_id];
    log.records(&revoke, &[("key.revoked", "Website")]).await;
    log.records(&revoke, &[]).await;

    let top_up = ["top-up", "Orchard", "1250", "--reference", "wire-7"];
    log.records(&top_up, &[("balance.credited", "$1,250.00, wire-7")])
        .await;
    log.records(&top_up, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_command_on_endpoints_is_recorded() {
    let mut log = TeamLog::start().await;
    let sink = WebhookSink::start().await;
    let url = sink.url.as_str();
    log.news().await;
    let add = ["endpoint", "add", "Orchard", url];
    let added = log.records(&add, &[("endpoint.created", url)]).await;
    log.records(&add, &[]).await;
    let endpoint_id = added["endpoint_id"].as_str().unwrap();
    let on = |command: &'static str| ["endpoint", command, "Orchard", endpoint_id];
    log.records(&on("pause"), &[("endpoint.paused", url)]).await;
    log.records(&on("resume"), &[("endpoint.resumed", url)])
        .await;
    log.records(&on("sign"), &[("endpoint.signed", url)]).await;
    log.records(&on("stop-signing"), &[("endpoint.unsigned", url)])
        .await;
    let test = log.records(&on("test"), &[("endpoint.tested", url)]).await;
    // Only what has ended is sent again.
    let ended = "UPDATE deliveries SET state = 'failed'";
    log.stack.sql.batch_execute(ended).await.unwrap();
    let delivery_id = test["delivery_id"].as_str().unwrap();
    let again = [&on("redeliver")[..], &[delivery_id]].concat();
    log.records(&again, &[("endpoint.redelivered", url)]).await;
    let replay = [&on("replay")[..], &["--since", "2020-01-01T00:00:00Z"]].concat();
    log.records(&replay, &[("endpoint.replayed", url)]).await;
    log.records(&on("delete"), &[("endpoint.deleted", url)])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_file_changes_is_recorded_and_the_same_file_again_records_nothing() {
    let mut log = TeamLog::start().await;
    let sink = WebhookSink::start().await;
    log.news().await;
    let file = |role: &str, is_signed: bool, status: &str| {
        json!({"teams": [{
            "name": "Orchard",
            "time_zone": "America/Chicago",
            "idempotency_keys": true,
            "formula_keys_see_people": true,
            "users": [{"name": "Ann", "email": "ann@example.com", "role": role}],
            "keys": [{"kind": "formulas", "name": "Website"}],
            "integrations": [{"name": "CRM", "keys": [{"name": "Sync"}]}],
            "endpoints": [{"url": sink.url, "signed": is_signed, "status": status}],
            "top_up": {"amount": "$12.50", "reference": "wire-7"},
        }]})
    };
    let url = sink.url.as_str();
    let ours = |news: Vec<(String, String)>| -> Vec<(String, String)> {
        let is_ours = |(action, _): &(String, String)| !action.starts_with("integration.");
        news.into_iter().filter(is_ours).collect()
    };
    let expected = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        let told = |(action, subject): &(&str, &str)| ((*action).to_owned(), (*subject).to_owned());
        list.iter().map(told).collect()
    };
    log.stack.apply_team(file("member", false, "active")).await;
    let first = [
        ("team.changed", "time zone America/Chicago, pays by balance"),
        ("team.keys_honoured", ""),
        ("team.people_shown", ""),
        ("person.added", "Ann as member"),
        ("key.created", "Sync of CRM"),
        ("key.created", "Website"),
        ("endpoint.created", url),
        ("balance.credited", "$12.50, wire-7"),
    ];
    assert_eq!(ours(log.news().await), expected(&first));
    log.stack.apply_team(file("member", false, "active")).await;
    assert_eq!(ours(log.news().await), []);
    log.stack.apply_team(file("admin", true, "paused")).await;
    let second = [
        ("person.role_changed", "Ann, member before, admin now"),
        ("endpoint.paused", url),
        ("endpoint.signed", url),
    ];
    assert_eq!(ours(log.news().await), expected(&second));
    let endpoint = log.stack.store.list_endpoints(log.team_id).await.unwrap();
    assert!(endpoint[0].is_signed && endpoint[0].state == EndpointState::Paused);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_leaves_no_entry() {
    let mut log = TeamLog::start().await;
    let (store, now) = (log.stack.store.clone(), log.stack.now());
    let credit = async |amount: &str| {
        let credit = accounts::BalanceCredit {
            team_id: log.team_id,
            amount: amount.parse().unwrap(),
            reference: &"wire-7".parse().unwrap(),
        };
        accounts::credit_balance(&store, store::Actor::Operator, &credit, now).await
    };
    credit("$5").await.unwrap();
    assert!(matches!(credit("$6").await, Err(StoreError::Limit(_))));
    let orchard = store.find_team(log.team_id).await.unwrap();
    let again = store::Team {
        team_id: TeamId::new(),
        time_zone: "America/Chicago".parse().unwrap(),
        ..orchard.clone()
    };
    let refused = accounts::create_team(&store, store::Actor::Operator, &again, now).await;
    assert!(
        matches!(refused, Err(accounts::TeamError::Taken(team_id)) if team_id == log.team_id),
        "{refused:?}"
    );
    assert_eq!(store.find_team(log.team_id).await.unwrap(), orchard);
    let actions: Vec<_> = log
        .news()
        .await
        .into_iter()
        .map(|(action, _)| action)
        .collect();
    assert_eq!(actions, ["team.created", "balance.credited"]);
}
