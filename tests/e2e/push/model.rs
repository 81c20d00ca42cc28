//! Random pushes, retries, kills and completes, compared with a model that fits on a page.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use pillarbox_tests::{ApiResponse, CrmClient, SpawnedProcess, wait_until};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use reqwest::Method;
use serde_json::{Value, json};

/// What the contract says of contacts, without a database.
#[derive(Default)]
struct Model {
    contacts: BTreeMap<String, Contact>,
    open: Option<Open>,
}

#[derive(Default)]
struct Contact {
    fields: BTreeMap<String, String>,
    is_removed: bool,
}

struct Open {
    is_full: bool,
    received: BTreeSet<String>,
}

impl Model {
    /// Accepted, deleted and rejected records of a batch; `None` without an open sync.
    fn push(&mut self, records: &[Value]) -> Option<(u64, u64, u64)> {
        let open = self.open.as_mut()?;
        let (mut counts, mut seen) = ((0, 0, 0), BTreeSet::new());
        for record in records {
            let id = record["external_id"].as_str().map(str::to_owned);
            let is_first = id.as_ref().is_some_and(|id| seen.insert(id.clone()));
            let fields = &record["fields"];
            open.received.extend(id.clone());
            match id {
                Some(id) if is_first && record["op"] == "delete" => {
                    counts.1 += 1;
                    if let Some(contact) = self.contacts.get_mut(&id) {
                        contact.is_removed = true;
                        contact.fields.clear();
                    }
                }
                Some(id) if is_first && fields["mail"] != "nobody" => {
                    counts.0 += 1;
                    let contact = self.contacts.entry(id).or_default();
                    contact.is_removed = false;
                    let fits = |(_, value): &(&String, &Value)| *value != "many";
                    let values = fields.as_object().into_iter().flatten().filter(fits);
                    contact.fields.extend(values.map(|(key, value)| {
                        (key.clone(), value.as_str().unwrap_or("").to_owned())
                    }));
                }
                _ => counts.2 += 1,
            }
        }
        Some(counts)
    }

    /// Contacts marked removed; `None` without an open sync.
    fn complete(&mut self) -> Option<u64> {
        let open = self.open.take()?;
        let mut removed = 0;
        for (id, contact) in self.contacts.iter_mut().filter(|_| open.is_full) {
            if !contact.is_removed && !open.received.contains(id) {
                contact.is_removed = true;
                removed += 1;
            }
        }
        Some(removed)
    }

    fn standing(&self) -> Vec<(String, Value)> {
        let standing = self
            .contacts
            .iter()
            .filter(|(_, contact)| !contact.is_removed);
        standing
            .map(|(id, contact)| (id.clone(), json!(contact.fields)))
            .collect()
    }
}

fn record(random: &mut StdRng) -> Value {
    let id = format!("c{}", random.random_range(0..25));
    match random.random_range(0..10) {
        0 => json!({"external_id": id, "op": "delete"}),
        1 => json!({"external_id": id, "fields": {"mail": "nobody"}}),
        2 => json!({"external_id": id, "fields": {"score": "many", "first": "Kim"}}),
        3 => json!({"fields": {}}),
        4 => json!({"external_id": id, "fields": {"first": null}}),
        _ => {
            json!({"external_id": id, "fields": {"first": format!("n{}", random.random_range(0..3))}})
        }
    }
}

/// One request, repeated with its key until it has an answer that stays.
async fn settle(
    crm: &CrmClient,
    method: Method,
    path: &str,
    key: &str,
    body: &Value,
) -> ApiResponse {
    let settled = std::sync::Mutex::new(None);
    wait_until("the request is answered", async || {
        let answer = crm.request_with_key(method.clone(), path, key, body).await;
        let is_open =
            matches!(answer.push_error(), (500 | 504, _)) || answer.push_error().1 == "in_progress";
        if !is_open {
            *settled.lock().unwrap() = Some(answer);
        }
        !is_open
    })
    .await;
    settled.into_inner().unwrap().unwrap()
}

/// Does one random request on both sides; sends it again now and then.
async fn step(crm: &CrmClient, model: &mut Model, random: &mut StdRng) {
    let key = crm.new_idempotency_key();
    let (method, path, body) = match random.random_range(0..10) {
        0..2 => (
            Method::POST,
            "/sync",
            json!({"mode": if random.random_bool(0.7) { "full" } else { "delta" }}),
        ),
        2..4 => (Method::PATCH, "/sync", json!({})),
        _ => {
            let records: Vec<_> = (0..random.random_range(0..12))
                .map(|_| record(random))
                .collect();
            (Method::POST, "/records", json!({ "records": records }))
        }
    };
    let answer = settle(crm, method.clone(), path, &key, &body).await;
    let json = answer.json();
    let number = |name: &str| json[name].as_u64().unwrap_or(u64::MAX);
    match (method.as_str(), path) {
        ("POST", "/sync") if model.open.is_some() => {
            assert_eq!(answer.push_error().1, "sync_in_progress")
        }
        ("POST", "/sync") => {
            assert_eq!(answer.status, 200, "{}", answer.text);
            model.open = Some(Open {
                is_full: body["mode"] == "full",
                received: BTreeSet::new(),
            });
        }
        ("PATCH", _) => match model.complete() {
            None => assert_eq!(answer.push_error().1, "no_open_sync"),
            Some(removed) => assert_eq!(number("markedRemoved"), removed, "{}", answer.text),
        },
        _ => match model.push(body["records"].as_array().unwrap()) {
            None => assert_eq!(answer.push_error().1, "no_open_sync"),
            Some(counts) => {
                assert_eq!(
                    (number("accepted"), number("deleted"), number("rejected")),
                    counts,
                    "{body}"
                );
            }
        },
    }
    if answer.status == 200 && random.random_bool(0.3) {
        let again = settle(crm, method, path, &key, &body).await;
        assert_eq!(
            (again.text, &again.headers["idempotency-replayed"]),
            (answer.text, &"true".parse().unwrap())
        );
    }
    assert_eq!(crm.list_contacts().await, model.standing());
}

#[tokio::test(flavor = "multi_thread")]
async fn contacts_are_those_of_the_model_whatever_is_pushed_retried_completed_or_expires() {
    for seed in 0..4 {
        let crm = CrmClient::start().await;
        let (mut model, mut random) = (Model::default(), StdRng::seed_from_u64(seed));
        for _ in 0..120 {
            if random.random_bool(0.02) {
                crm.stack.clock.advance(TimeDelta::hours(24));
                model.open = None;
            }
            step(&crm, &mut model, &mut random).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn contacts_are_those_of_the_model_whenever_the_worker_is_killed() {
    let settings = vec![("GATEWAY__CALL_DEADLINE_MS", "2000".to_owned())];
    let crm = CrmClient::with_syncers(settings, 0).await;
    let (mut model, mut random) = (Model::default(), StdRng::seed_from_u64(7));
    let mut syncer = SpawnedProcess::start("syncer", &crm.stack.settings, None);
    crm.wait_until_ready().await;
    crm.declare_usual_fields().await;
    for _ in 0..12 {
        let points = ["push.claimed", "push.applied", "push.committed"];
        let point = points[random.random_range(0..points.len())];
        syncer.terminate();
        let mut doomed = SpawnedProcess::start("syncer", &crm.stack.settings, Some(point));
        let revive = async {
            wait_until("the syncer dies at its fail point", {
                let doomed = tokio::sync::Mutex::new(&mut doomed);
                async move || doomed.lock().await.has_ended()
            })
            .await;
            SpawnedProcess::start("syncer", &crm.stack.settings, None)
        };
        let work = async {
            // A request that reaches every point: one of the two is not refused.
            step(&crm, &mut model, &mut random).await;
            if model.open.is_none() {
                let begun = settle(
                    &crm,
                    Method::POST,
                    "/sync",
                    &crm.new_idempotency_key(),
                    &json!({}),
                )
                .await;
                assert_eq!(begun.status, 200, "{}", begun.text);
                model.open = Some(Open {
                    is_full: true,
                    received: BTreeSet::new(),
                });
            }
            let batch = [record(&mut random)];
            let pushed = settle(
                &crm,
                Method::POST,
                "/records",
                &crm.new_idempotency_key(),
                &json!({ "records": batch }),
            )
            .await;
            assert_eq!(pushed.status, 200, "{}", pushed.text);
            model.push(&batch);
        };
        let (_, next) = tokio::join!(work, revive);
        syncer = next;
        for _ in 0..4 {
            step(&crm, &mut model, &mut random).await;
        }
    }
}
