//! RabbitMQ stops taking messages: its memory alarm blocks every publisher.

use std::time::Duration;

use pillarbox_tests::wait_until;

use super::Drill;

/// Longer than a call's deadline: requests meet the alarm in every step.
const ALARM: Duration = Duration::from_secs(6);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_broker_that_blocks_publishers_loses_and_doubles_nothing() {
    let drill = Drill::start().await;
    let control =
        |words: &[&str]| tokio::task::block_in_place(|| drill.servers.broker().run_client(words));
    control(&["set_vm_memory_high_watermark", "absolute", "1"]);
    wait_until("publishers are blocked", async || {
        control(&["eval", "rabbit_alarm:get_alarms()."]).contains("memory")
    })
    .await;
    tokio::time::sleep(ALARM).await;
    control(&["set_vm_memory_high_watermark", "0.8"]);
    drill.until_more_cards("the load goes on").await;
    drill.end("broker with its memory alarm").await;
}
