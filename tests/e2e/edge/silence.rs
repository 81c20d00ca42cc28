//! A database that says nothing any more, and does not hang up.

use std::collections::HashMap;
use std::sync::Arc;

use pillarbox_tests::{
    CAMPAIGN, FleetProcess, GatedVerifier, KEY, StackOptions, TestStack, build_recipients,
    wait_until,
};
use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::PATIENCE;

/// Names the database in settings.
const URL_SETTING: &str = "PILLARBOX__DATABASE__URL";

/// The way to the database of these settings, until it is silent: then nothing passes, and nobody is told.
async fn way_to_database(settings: &mut HashMap<String, String>) -> watch::Sender<bool> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut url = reqwest::Url::parse(&settings[URL_SETTING]).unwrap();
    let target = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    url.set_port(Some(listener.local_addr().unwrap().port()))
        .unwrap();
    settings.insert(URL_SETTING.to_owned(), url.into());
    let (silence, is_silent) = watch::channel(false);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let (target, mut is_silent) = (target.clone(), is_silent.clone());
            tokio::spawn(async move {
                let mut far = TcpStream::connect(target).await.unwrap();
                tokio::select! {
                    _ = copy_bidirectional(&mut near, &mut far) => return,
                    _ = is_silent.wait_for(|is_silent| *is_silent) => {}
                }
                let _held = (near, far);
                std::future::pending::<()>().await;
            });
        }
    });
    silence
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_is_answered_with_its_cost_when_the_gateways_database_falls_silent() {
    let gate = Arc::new(GatedVerifier::default());
    let stack = TestStack::with_options(StackOptions {
        verifier: Some(gate.clone()),
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let mut settings = stack.settings.clone();
    let silence = way_to_database(&mut settings).await;
    let gateway = FleetProcess::start("gateway", &settings);
    gateway.wait_until_ready().await;
    let asked = gate.count_requests();
    let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(1..3)}).to_string();
    let url = gateway.url();
    let send = stack.post_send_to(&url, &[("x-api-key", KEY)], body);
    let (answer, ()) = tokio::join!(tokio::time::timeout(PATIENCE, send), async {
        wait_until("a mailer works on the send", async || {
            gate.count_requests() > asked
        })
        .await;
        silence.send_replace(true);
        gate.open();
    });
    let answer = answer.expect("an answer");
    assert_eq!(answer.reasons(), ["mailed", "mailed"]);
    assert_eq!(answer.headers["x-cost-cents"], "158");
}
