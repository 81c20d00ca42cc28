//! The list, in the order of the documentation.

use super::{Metric, MetricKind, MetricLabel};

/// Calls and messages wait in these.
pub(crate) const QUEUES: [&str; 6] = ["send", "push", "formula", "deliveries", "dead", "parked"];

const HTTP: &[&str] = &["gateway", "console"];
const GATEWAY: &[&str] = &["gateway"];
const MAILER: &[&str] = &["mailer"];
const SYNCER: &[&str] = &["syncer"];
const DISPATCHER: &[&str] = &["dispatcher"];
const WORKERS: &[&str] = &["mailer", "syncer"];
const ALL: &[&str] = &[];

const fn define_label(name: &'static str, values: &'static [&'static str]) -> MetricLabel {
    MetricLabel { name, values }
}

const fn define_metric(
    kind: MetricKind,
    name: &'static str,
    by: &'static [&'static str],
    labels: &'static [MetricLabel],
    help: &'static str,
) -> Metric {
    Metric {
        name,
        kind,
        by,
        labels,
        help,
    }
}

const CALL_QUEUE: MetricLabel = define_label("queue", &["send", "push", "formula"]);
/// Of a message that another worker had, or none.
const FIRST_QUEUE: MetricLabel = define_label("queue", &["send", "push", "formula", "unknown"]);
const QUEUE: MetricLabel = define_label("queue", &QUEUES);
const MEMORY: MetricLabel = define_label("budget", &["bodies", "anonymous_bodies", "answers"]);
const PROVIDER: MetricLabel = define_label("provider", &["smarty", "stripe", "language_model"]);
const BACKLOG: MetricLabel = define_label("kind", &store::BACKLOG_KINDS);

/// All of them, in the order of the documentation.
pub const METRICS: &[Metric] = {
    use MetricKind::{Counter, Gauge, Histogram};
    &[
        define_metric(
            Counter,
            "pillarbox_http_requests_total",
            HTTP,
            &[
                define_label("route", &[]),
                define_label("method", &[]),
                define_label("status", &[]),
                define_label("code", &[]),
            ],
            "Requests answered; status \"gone\" is a client that hung up before its answer.",
        ),
        define_metric(
            Histogram,
            "pillarbox_http_request_duration_seconds",
            HTTP,
            &[define_label("route", &[]), define_label("method", &[])],
            "From a request's headers to its answer.",
        ),
        define_metric(
            Gauge,
            "pillarbox_http_requests_running",
            HTTP,
            &[],
            "Requests being answered.",
        ),
        define_metric(
            Counter,
            "pillarbox_connections_refused_total",
            ALL,
            &[],
            "Connections closed at once because their source address had as many as it may.",
        ),
        define_metric(
            Gauge,
            "pillarbox_memory_held_bytes",
            HTTP,
            &[MEMORY],
            "Memory held by bodies that arrive or are passed on, and by answers that are not read yet.",
        ),
        define_metric(
            Counter,
            "pillarbox_memory_evictions_total",
            HTTP,
            &[MEMORY],
            "Bodies and answers that broke off because they were slow, or held most, while others waited for memory.",
        ),
        define_metric(
            Counter,
            "pillarbox_rate_limit_shielded_total",
            GATEWAY,
            &[],
            "Requests over a rate limit that were refused without asking the database.",
        ),
        define_metric(
            Counter,
            "pillarbox_mcp_tool_calls_total",
            GATEWAY,
            &[define_label("tool", &[]), define_label("code", &[])],
            "Calls of tools of the two MCP servers.",
        ),
        define_metric(
            Counter,
            "pillarbox_scans_total",
            GATEWAY,
            &[define_label("result", &["recorded", "unrecorded"])],
            "Scans of cards; the unrecorded are lost, their phones were redirected.",
        ),
        define_metric(
            Gauge,
            "pillarbox_working",
            ALL,
            &[],
            "1 while the process takes work, else 0.",
        ),
        define_metric(
            Gauge,
            "pillarbox_ready",
            ALL,
            &[],
            "1 while /readyz says that clients can be sent here, else 0.",
        ),
        define_metric(
            Gauge,
            "pillarbox_build_info",
            ALL,
            &[define_label("version", &[])],
            "1, labelled with the version.",
        ),
        define_metric(
            Counter,
            "pillarbox_log_events_total",
            ALL,
            &[define_label("level", &["error", "warn"])],
            "Lines logged at these levels.",
        ),
        define_metric(
            Gauge,
            "pillarbox_broker_connected",
            ALL,
            &[],
            "1 while the connection to RabbitMQ stands, else 0.",
        ),
        define_metric(
            Gauge,
            "pillarbox_broker_blocked",
            ALL,
            &[],
            "1 while RabbitMQ takes no publishes because it is short of memory or disk, else 0.",
        ),
        define_metric(
            Counter,
            "pillarbox_broker_connections_total",
            ALL,
            &[],
            "Connections to RabbitMQ opened.",
        ),
        define_metric(
            Counter,
            "pillarbox_calls_total",
            GATEWAY,
            &[
                CALL_QUEUE,
                define_label(
                    "result",
                    &[
                        "replied",
                        "unavailable",
                        "given_up",
                        "lost",
                        "deadline_passed",
                    ],
                ),
            ],
            "Calls of workers over RabbitMQ.",
        ),
        define_metric(
            Histogram,
            "pillarbox_call_duration_seconds",
            GATEWAY,
            &[CALL_QUEUE],
            "From a call to its reply, waiting in the queue included.",
        ),
        define_metric(
            Histogram,
            "pillarbox_work_duration_seconds",
            WORKERS,
            &[CALL_QUEUE],
            "A worker's time for one call.",
        ),
        define_metric(
            Gauge,
            "pillarbox_work_running",
            WORKERS,
            &[CALL_QUEUE],
            "Calls being worked on.",
        ),
        define_metric(
            Gauge,
            "pillarbox_work_waiting",
            WORKERS,
            &[CALL_QUEUE],
            "Calls that a worker has taken and that wait for their team's turn.",
        ),
        define_metric(
            Counter,
            "pillarbox_work_refused_total",
            WORKERS,
            &[CALL_QUEUE],
            "Calls refused because too many waited, most of them of the same team.",
        ),
        define_metric(
            Counter,
            "pillarbox_work_panics_total",
            WORKERS,
            &[CALL_QUEUE],
            "Calls at which a worker panicked: they are delivered again, up to the limit.",
        ),
        define_metric(
            Counter,
            "pillarbox_calls_expired_total",
            WORKERS,
            &[FIRST_QUEUE],
            "Calls thrown away because nobody waited for them any more.",
        ),
        define_metric(
            Counter,
            "pillarbox_work_redelivered_total",
            WORKERS,
            &[CALL_QUEUE],
            "Calls taken that a worker had before and did not finish.",
        ),
        define_metric(
            Counter,
            "pillarbox_work_parked_total",
            WORKERS,
            &[FIRST_QUEUE],
            "Messages that no worker could finish or knows, put into the queue of parked messages.",
        ),
        define_metric(
            Gauge,
            "pillarbox_reporter",
            ALL,
            &[],
            "1 in the process that reports for all, else 0.",
        ),
        define_metric(
            Gauge,
            "pillarbox_queue_messages",
            ALL,
            &[QUEUE],
            "Messages that wait in RabbitMQ; reported by one process for all.",
        ),
        define_metric(
            Gauge,
            "pillarbox_queue_consumers",
            ALL,
            &[QUEUE],
            "Workers that listen; reported by one process for all.",
        ),
        define_metric(
            Gauge,
            "pillarbox_backlog",
            ALL,
            &[BACKLOG],
            "Rows that wait for somebody, counted up to 10,000; reported by one process for all.",
        ),
        define_metric(
            Gauge,
            "pillarbox_backlog_age_seconds",
            ALL,
            &[BACKLOG],
            "How long the oldest of them is overdue; reported by one process for all.",
        ),
        define_metric(
            Gauge,
            "pillarbox_print_serials_used_ratio",
            ALL,
            &[],
            "Part of the mailers' serial numbers for barcodes that was used within 45 days; reported by one process for all.",
        ),
        define_metric(
            Gauge,
            "pillarbox_database_usable",
            ALL,
            &[],
            "1 while the database answers and its tables fit the program, else 0.",
        ),
        define_metric(
            Gauge,
            "pillarbox_database_connections",
            ALL,
            &[define_label("state", &["busy", "idle"])],
            "Connections of the process's pool.",
        ),
        define_metric(
            Gauge,
            "pillarbox_database_connections_limit",
            ALL,
            &[],
            "Connections that the pool may hold.",
        ),
        define_metric(
            Gauge,
            "pillarbox_database_waiting",
            ALL,
            &[],
            "Tasks that wait for a connection of the pool.",
        ),
        define_metric(
            Histogram,
            "pillarbox_database_wait_duration_seconds",
            ALL,
            &[],
            "Waits for a connection of the pool.",
        ),
        define_metric(
            Counter,
            "pillarbox_database_unavailable_total",
            ALL,
            &[],
            "Times that no connection could be had.",
        ),
        define_metric(
            Histogram,
            "pillarbox_database_statement_duration_seconds",
            ALL,
            &[],
            "From a statement to its result.",
        ),
        define_metric(
            Histogram,
            "pillarbox_database_busy_seconds",
            ALL,
            &[],
            "Stretches of time in which at least one statement was under way.",
        ),
        define_metric(
            Counter,
            "pillarbox_database_conflicts_total",
            ALL,
            &[],
            "Transactions done again because they met another one.",
        ),
        define_metric(
            Counter,
            "pillarbox_recipients_total",
            MAILER,
            &[define_label("outcome", &[])],
            "Recipients of requests by their outcome before payment: mailed, or the reason.",
        ),
        define_metric(
            Counter,
            "pillarbox_charges_total",
            MAILER,
            &[
                define_label("payment", &["balance", "stripe"]),
                define_label("result", &["settled", "declined", "uncertain"]),
            ],
            "Charges closed, and tries after which it was uncertain whether the money was taken.",
        ),
        define_metric(
            Counter,
            "pillarbox_cards_total",
            MAILER,
            &[define_label("kind", &["send", "recheck", "step"])],
            "Cards made and paid, by what caused them.",
        ),
        define_metric(
            Counter,
            "pillarbox_provider_calls_total",
            MAILER,
            &[
                PROVIDER,
                define_label("result", &["ok", "failed", "refused"]),
            ],
            "Requests to providers: failed may succeed later, refused will not.",
        ),
        define_metric(
            Histogram,
            "pillarbox_provider_call_duration_seconds",
            MAILER,
            &[PROVIDER],
            "From a request to a provider to its answer.",
        ),
        define_metric(
            Counter,
            "pillarbox_ai_values_total",
            MAILER,
            &[define_label("result", &["written", "blank", "postponed"])],
            "Values of AI columns: written, given up, or left for a later try.",
        ),
        define_metric(
            Counter,
            "pillarbox_pictures_total",
            MAILER,
            &[define_label("result", &["known", "fetched", "left"])],
            "Pictures by link: remembered, asked for, or left out for lack of time.",
        ),
        define_metric(
            Counter,
            "pillarbox_push_records_total",
            SYNCER,
            &[define_label("result", &["upserted", "deleted", "rejected"])],
            "Records of committed batches.",
        ),
        define_metric(
            Counter,
            "pillarbox_webhook_attempts_total",
            DISPATCHER,
            &[define_label(
                "result",
                &["delivered", "refused", "timed_out", "unreachable"],
            )],
            "Attempts at deliveries: refused is any answer but 2xx.",
        ),
        define_metric(
            Histogram,
            "pillarbox_webhook_attempt_duration_seconds",
            DISPATCHER,
            &[],
            "From an attempt's begin to its answer.",
        ),
        define_metric(
            Counter,
            "pillarbox_webhook_endpoints_disabled_total",
            DISPATCHER,
            &[],
            "Endpoints disabled for their failures.",
        ),
        define_metric(
            Counter,
            "pillarbox_webhook_unrecorded_total",
            DISPATCHER,
            &[define_label("what", &["details", "result"])],
            "Attempts that could not be recorded: without their details, or not at all; the latter are made again.",
        ),
        define_metric(
            Counter,
            "pillarbox_emails_total",
            DISPATCHER,
            &[define_label("result", &["sent", "failed"])],
            "Tries of e-mails.",
        ),
        define_metric(
            Gauge,
            "pillarbox_partitions_ahead_seconds",
            DISPATCHER,
            &[],
            "For how long there are partitions for scans; reported by one process for all.",
        ),
        define_metric(
            Counter,
            "pillarbox_purged_rows_total",
            &["mailer", "syncer", "dispatcher"],
            &[define_label(
                "kind",
                &[
                    "sends",
                    "idempotency_keys",
                    "syncs",
                    "contacts",
                    "integrations",
                    "deliveries",
                    "events",
                    "feed",
                    "emails",
                    "caches",
                    "mailpiece_events",
                ],
            )],
            "Rows deleted because their time was over.",
        ),
        define_metric(
            Counter,
            "pillarbox_housekeeping_failures_total",
            &["mailer", "syncer", "dispatcher"],
            &[],
            "Periodic tasks that failed, each by itself.",
        ),
        define_metric(
            Counter,
            "pillarbox_due_work_panics_total",
            MAILER,
            &[],
            "Due jobs and open sends at which a worker panicked: they are taken again.",
        ),
        define_metric(
            Counter,
            "pillarbox_webhook_attempt_panics_total",
            DISPATCHER,
            &[],
            "Attempts at deliveries that panicked: they are made again.",
        ),
    ]
};
