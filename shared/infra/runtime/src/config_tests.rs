use super::*;

fn with(name: &str, value: &str) -> Result<Config, config::ConfigError> {
    Config::with(HashMap::from([(name.to_owned(), value.to_owned())]))
}

#[test]
fn the_defaults_are_a_whole_configuration() {
    let config = Config::with(HashMap::new()).unwrap();
    assert_eq!(
        config.mailer.cut_off,
        NaiveTime::from_hms_opt(15, 0, 0).unwrap()
    );
    assert_eq!(config.prices["postcard_4x6"].with(Postage::FirstClass), 99);
    assert!(config.gateway.trusted_proxies.is_empty());
}

#[test]
fn secrets_do_not_show_when_the_configuration_is_printed() {
    for (name, value) in [
        ("PILLARBOX__SMARTY__AUTH_TOKEN", "secret-token"),
        ("PILLARBOX__SMARTY__AUTH_ID", "secret-id"),
        ("PILLARBOX__STRIPE__SECRET_KEY", "secret-key"),
        ("PILLARBOX__STORAGE__S3__SECRET_ACCESS_KEY", "secret-access"),
        (
            "PILLARBOX__TRACES__HEADERS",
            "authorization=secret-collector",
        ),
    ] {
        assert!(
            !format!("{:?}", with(name, value).unwrap()).contains("secret-"),
            "{name}"
        );
    }
}

#[test]
fn the_environment_overrides_and_unknown_settings_are_refused() {
    assert_eq!(
        with("PILLARBOX__GATEWAY__LISTEN", "0.0.0.0:80")
            .unwrap()
            .gateway
            .listen,
        "0.0.0.0:80"
    );
    let proxies = with("PILLARBOX__GATEWAY__TRUSTED_PROXIES", "10.0.0.0/8, ::1/128").unwrap();
    assert_eq!(proxies.gateway.trusted_proxies.len(), 2);
    let origins = with(
        "PILLARBOX__GATEWAY__MCP_ALLOWED_ORIGINS",
        "https://a.example, https://b.example",
    )
    .unwrap();
    assert_eq!(
        origins.gateway.mcp_allowed_origins,
        ["https://a.example", "https://b.example"]
    );
    let delays = with("PILLARBOX__DISPATCHER__RETRY_DELAYS_SECONDS", "1, 2").unwrap();
    assert_eq!(delays.dispatcher.retry_delays_seconds, [1, 2]);
    for (name, value) in [
        ("PILLARBOX__GATEWAY__LISTENN", "x"),
        ("PILLARBOX__MAILER__CUT_OFF", "25:00"),
        ("PILLARBOX__MAILER__CONCURRENCY", "0"),
        ("PILLARBOX__GATEWAY__TRUSTED_PROXIES", "10.0.0.0/33"),
        ("PILLARBOX__PRICES__LETTER__STANDARD", "0"),
        ("PILLARBOX__VERIFICATION__VERIFIER", "guess"),
        ("PILLARBOX__SMARTY__CONCURRENCY", "0"),
        ("PILLARBOX__PRINT__PUBLIC_URL", "mail.example.com"),
        ("PILLARBOX__PRINT__PERMIT__CITY", "Austin, TX"),
        ("PILLARBOX__STORAGE__KIND", "tape"),
        ("PILLARBOX__SCANS__RETENTION_DAYS", "0"),
        ("PILLARBOX__SYNCER__IDEMPOTENCY_KEY_DAYS", "36501"),
        ("PILLARBOX__DISPATCHER__RETENTION_DAYS", "-1"),
        ("PILLARBOX__PICTURES__CONCURRENCY_PER_HOST", "0"),
        ("PILLARBOX__DISPATCHER__LEASE_MS", "10000"),
        ("PILLARBOX__DISPATCHER__RETRY_DELAYS_SECONDS", "5,x"),
    ] {
        assert!(with(name, value).is_err(), "{name}={value}");
    }
}
