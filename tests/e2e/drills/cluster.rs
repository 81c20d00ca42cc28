//! Three nodes of RabbitMQ in network namespaces: the leader dies, then a minority is cut off.

use pillarbox_tests::{PrivateServers, RabbitmqCluster};

use super::Drill;

/// Where the calls of sends lie.
const QUEUE: &str = "pillarbox.send";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cluster_that_loses_its_leader_and_then_a_minority_loses_and_doubles_nothing() {
    let Some(mut cluster) = tokio::task::block_in_place(RabbitmqCluster::start) else {
        println!("\ndrill RabbitMQ cluster: skipped, since no network namespaces can be made here");
        return;
    };
    let (servers, database) = PrivateServers::with_postgres_only().await;
    let settings = vec![
        ("MAILER__LEASE_MS", "1500".to_owned()),
        ("GATEWAY__CALL_DEADLINE_MS", "5000".to_owned()),
        ("DATABASE__URL", database),
        ("BROKER__URL", cluster.url()),
    ];
    let drill = Drill::on(servers, settings).await;
    let leader = tokio::task::block_in_place(|| cluster.find_leader(QUEUE));
    tokio::task::block_in_place(|| cluster.kill_node(leader));
    drill.until_more_cards("another node leads").await;
    tokio::task::block_in_place(|| cluster.revive_node(leader));
    let leader = tokio::task::block_in_place(|| cluster.find_leader(QUEUE));
    // The node that leads now, alone on its side.
    tokio::task::block_in_place(|| cluster.disconnect_node(leader));
    drill.until_more_cards("the majority goes on").await;
    tokio::task::block_in_place(|| cluster.reconnect_node(leader));
    drill
        .until_more_cards("the load goes on in one cluster")
        .await;
    drill
        .end("RabbitMQ cluster without its leader, then without a minority")
        .await;
}
