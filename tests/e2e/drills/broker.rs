//! RabbitMQ stops taking messages: its memory alarm blocks every publisher.

use super::Drill;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_broker_that_blocks_publishers_loses_and_doubles_nothing() {
    let drill = Drill::start().await;
    for _ in 0..2 {
        let broker = drill.servers.broker();
        tokio::task::block_in_place(|| broker.control(&["set_vm_memory_high_watermark", "absolute", "1"]));
        pillarbox_tests::eventually("publishers are blocked", async || {
            let alarms =
                tokio::task::block_in_place(|| broker.control(&["eval", "rabbit_alarm:get_alarms()."]));
            alarms.contains("memory")
        })
        .await;
        // Longer than a call's deadline: requests under way meet it in every step.
        tokio::time::sleep(std::time::Duration::from_secs(6)).await;
        tokio::task::block_in_place(|| broker.control(&["set_vm_memory_high_watermark", "0.8"]));
        drill.until_more_cards("the load goes on").await;
    }
    drill.end("broker with its memory alarm").await;
}
