//! Only hosts on the public internet are asked.

use pillarbox_tests::{
    SpawnedProcess, StackOptions, WebhookSink, build_recipient, list_codes, wait_until,
    with_qr_codes,
};

use super::World;

#[tokio::test(flavor = "multi_thread")]
async fn only_public_addresses_are_saved_and_asked() {
    let settings = vec![("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.1/32".to_owned())];
    let world = World::with(settings).await;
    let add = async |url: &str| {
        let policy = world.stack.target_policy();
        world.manager().add(&policy, url, None).await.map(drop)
    };
    for url in [
        "http://8.8.8.8/",
        "https://127.0.0.2/",
        "https://10.0.0.1/",
        "https://0x7f.2/",
        "https://2130706434/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://user@8.8.8.8/",
        "https://no-such-host.invalid/",
        "ftp://8.8.8.8/",
    ] {
        assert!(add(url).await.is_err(), "{url}");
    }
    // What slips in all the same is refused at each attempt.
    world
        .stack
        .sql
        .execute("UPDATE endpoints SET url = 'http://127.0.0.2:9/'", &[])
        .await
        .unwrap();
    world.scan().await;
    world.until_attempts(1).await;
    let error = world.deliveries().await[0].attempts[0]["error"].clone();
    assert_eq!(error, "the host is not on the public internet");
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_from_the_environment_are_not_used() {
    let (stack, sink) = with_qr_codes(StackOptions::default()).await;
    let proxy = WebhookSink::start().await;
    let mut settings = stack.settings.clone();
    for name in [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ] {
        settings.insert(name.to_owned(), proxy.url.clone());
    }
    let _dispatcher = SpawnedProcess::start("dispatcher", &settings, None);
    stack.send_recipients(&[build_recipient(1)]).await;
    let code = list_codes(&stack).await.remove(0);
    stack.scan_code(&code).await;
    wait_until("the endpoint gets it", async || sink.count_received() == 1).await;
    assert_eq!(proxy.count_received(), 0);
}
