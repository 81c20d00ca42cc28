//! A process whose database does not fit it says so, takes no clients from others, and goes on when it is mended.

use pillarbox_tests::{FleetProcess, LoadBalancer, StackOptions, TestStack, wait_until};

/// Makes the tables look like those of an older version, and undoes it.
const OLDER: &str = "UPDATE refinery_schema_history SET version = version - 100";
const AS_BEFORE: &str = "UPDATE refinery_schema_history SET version = version + 100";

async fn gateways(stack: &TestStack) -> [FleetProcess; 2] {
    [
        FleetProcess::start("gateway", &stack.settings),
        FleetProcess::start("gateway", &stack.settings),
    ]
}

/// Until it says that it is not ready, and why.
async fn until_unfit(member: &FleetProcess, why: &str) {
    wait_until("it says why it is not ready", async || {
        let (status, body) = member.get_readiness().await;
        status == 503 && body["troubles"].to_string().contains(why)
    })
    .await;
    wait_until("the log says why", async || {
        member
            .log_text()
            .lines()
            .any(|line| line.contains("\"not working\"") && line.contains(why))
    })
    .await;
    assert_eq!(member.read_metric("pillarbox_ready").await, 0.0);
    assert_eq!(member.read_metric("pillarbox_database_usable").await, 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_are_too_old_keep_a_new_process_from_being_ready_and_no_client_without_an_answer()
 {
    let stack = TestStack::with_options(StackOptions::default()).await;
    stack.sql.batch_execute(OLDER).await.unwrap();
    let gateways = gateways(&stack).await;
    for gateway in &gateways {
        until_unfit(gateway, "run `pillarbox migrate`").await;
    }
    // When there is nobody better, clients are answered by those.
    let balancer = LoadBalancer::start_before(&gateways[0], &gateways[1]);
    wait_until("the balancer asks them all the same", async || {
        reqwest::get(format!("{}/docs", balancer.url))
            .await
            .is_ok_and(|answer| answer.status() == 200)
    })
    .await;
    stack.sql.batch_execute(AS_BEFORE).await.unwrap();
    for gateway in &gateways {
        gateway.wait_until_ready().await;
        wait_until("the log says so", async || {
            gateway.log_text().contains("\"working again\"")
        })
        .await;
    }
    // Who has worked goes on, whatever becomes of the tables: an outage of all is worse than errors of some.
    stack.sql.batch_execute(OLDER).await.unwrap();
    wait_until("it is seen", async || {
        gateways[0].get_readiness().await.1["troubles"]
            .to_string()
            .contains("run `pillarbox migrate`")
    })
    .await;
    assert_eq!(gateways[0].get_readiness().await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_refuses_a_process_is_named_in_its_log() {
    let mut stack = TestStack::with_options(StackOptions::default()).await;
    let url = stack.settings["PILLARBOX__DATABASE__URL"].clone();
    let (base, options) = url.split_once('?').unwrap();
    let nowhere = format!("{base}_that_is_not_there?{options}");
    stack
        .settings
        .insert("PILLARBOX__DATABASE__URL".to_owned(), nowhere);
    let gateway = FleetProcess::start("gateway", &stack.settings);
    until_unfit(&gateway, "does not exist").await;
}
