//! Postgres goes: restarted, its connections cut, its disk full.

use pillarbox_tests::{FullDisk, PrivateServers};

use super::{Drill, cards};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_restarted_postgres_and_cut_connections_lose_and_double_nothing() {
    let drill = Drill::start().await;
    tokio::task::block_in_place(|| drill.servers.postgres().run_action("restart"));
    drill
        .until_more_cards("the load goes on after a restart")
        .await;
    for _ in 0..5 {
        let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'pillarbox'";
        tokio::task::block_in_place(|| drill.servers.postgres().run_client(&["-c", cut]));
        drill
            .until_more_cards("the load goes on without its connections")
            .await;
    }
    tokio::task::block_in_place(|| drill.servers.postgres().run_action("kill"));
    tokio::task::block_in_place(|| drill.servers.postgres().run_action("start"));
    drill
        .until_more_cards("the load goes on after a crash")
        .await;
    drill.end("Postgres restarted, cut and crashed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_disk_that_refuses_writes_loses_and_doubles_nothing() {
    let Some(disk) = FullDisk::mount() else {
        println!("\ndrill Postgres's disk full: skipped, since no file system can be mounted here");
        return;
    };
    let servers = PrivateServers::with_postgres_on(disk.folder()).await;
    let mut settings = vec![
        ("MAILER__LEASE_MS", "1500".to_owned()),
        ("GATEWAY__CALL_DEADLINE_MS", "5000".to_owned()),
    ];
    settings.extend(servers.settings());
    let drill = Drill::on(servers, settings).await;
    disk.fill();
    // Whether Postgres refuses statements or gives up: no card comes while the disk is full.
    let url = drill.stack.settings["PILLARBOX__DATABASE__URL"].clone();
    let (mut before, mut same) = (cards(&url).await, 0);
    while same < 10 {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let now = cards(&url).await;
        same = if now == before { same + 1 } else { 0 };
        before = now;
    }
    disk.empty();
    tokio::task::block_in_place(|| {
        // It may have ended; a server that runs is left alone.
        drill.servers.postgres().run_action("start");
    });
    drill
        .until_more_cards("the load goes on with room on the disk")
        .await;
    drill.end("Postgres's disk full").await;
}
