-- Scans of printed cards, and the webhook deliveries that they cause.

-- What a card's QR codes lead to. The code stands in the address that prints and cannot be guessed; cards
-- made before codes existed have none. Destinations are in the order of the design's QR codes (front, then
-- back), with the recipient's fields filled in when the card was made; none for a design without a QR code.
ALTER TABLE pieces
    ADD COLUMN code text CHECK (code ~ '^[0-9A-Za-z]{10}$'),
    ADD COLUMN destinations text[] NOT NULL DEFAULT '{}';
-- Unique over all teams: a phone that scans a card knows nothing but its code.
CREATE UNIQUE INDEX pieces_by_code ON pieces (code);

-- One recorded scan, also when the same phone scans the same card again. Rows only come and go by age.
CREATE TABLE scans (
    team_id     uuid NOT NULL,
    scan_id     uuid NOT NULL,
    piece_id    uuid NOT NULL,
    campaign_id text NOT NULL,
    -- Who asked: a person's phone, or a program that looks ahead (a link preview, a prefetch).
    visitor     text NOT NULL CHECK (visitor IN ('person', 'program')),
    destination text NOT NULL,
    -- From the network that the request came from; NULL when not known.
    city        text,
    region      text,
    latitude    double precision,
    longitude   double precision,
    scanned_at  timestamptz NOT NULL,
    PRIMARY KEY (team_id, scan_id)
);
CREATE INDEX scans_by_age ON scans USING brin (scanned_at);

-- Where a team wants its events.
--
--   active ──20 failed attempts in a row──▶ disabled
--     │  ▲◀────────────resume─────────────────┘
--   pause └─resume─ paused                 any ──delete──▶ deleted
CREATE TABLE endpoints (
    team_id         uuid NOT NULL REFERENCES teams,
    endpoint_id     uuid NOT NULL,
    url             text NOT NULL,
    state           text NOT NULL CHECK (state IN ('active', 'paused', 'disabled', 'deleted')),
    -- Every campaign, later ones too; else those in endpoint_campaigns.
    all_campaigns   boolean NOT NULL,
    -- Failed attempts since the last one that succeeded; those of test events do not count.
    failures_in_row integer NOT NULL DEFAULT 0,
    last_error      text,
    -- The keys that sign deliveries, when the team has asked for signatures. After a rotation the earlier one
    -- signs as well until its time is over.
    secret                bytea,
    earlier_secret        bytea,
    earlier_secret_until  timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (team_id, endpoint_id),
    CHECK ((earlier_secret IS NULL) = (earlier_secret_until IS NULL)),
    CHECK (earlier_secret IS NULL OR secret IS NOT NULL)
);
CREATE UNIQUE INDEX endpoints_by_url ON endpoints (team_id, url) WHERE state <> 'deleted';
CREATE UNIQUE INDEX endpoints_by_id ON endpoints (endpoint_id);

CREATE TABLE endpoint_campaigns (
    team_id     uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    campaign_id text NOT NULL REFERENCES campaigns,
    PRIMARY KEY (team_id, endpoint_id, campaign_id),
    FOREIGN KEY (team_id, endpoint_id) REFERENCES endpoints
);

-- What is sent, byte for byte the same on every attempt. A scan's event has the scan's id; an event is only
-- kept when there was an endpoint to tell.
CREATE TABLE events (
    team_id    uuid NOT NULL,
    event_id   uuid NOT NULL,
    is_test    boolean NOT NULL,
    body       text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, event_id)
);
CREATE INDEX events_by_age ON events USING brin (created_at);

-- One event on its way to one endpoint.
--
--   waiting ──2xx──▶ delivered
--     │  └──last attempt failed──▶ failed
--     └──endpoint paused, disabled or deleted──▶ cancelled
--
-- A worker that claims a waiting one moves its due_at to the end of its lease: while the worker lives nobody
-- else finds it, and when it dies the delivery falls due again.
CREATE TABLE deliveries (
    team_id     uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    event_id    uuid NOT NULL,
    -- An event's own delivery is retried; a redelivery and a test are one attempt.
    kind        text NOT NULL CHECK (kind IN ('event', 'redelivery', 'test')),
    state       text NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'cancelled')),
    attempts    smallint NOT NULL DEFAULT 0,
    -- Retries and redeliveries wait in a lane of their own, so that they never hold back first attempts.
    is_retry    boolean NOT NULL,
    due_at      timestamptz NOT NULL,
    lease_id    uuid,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (team_id, endpoint_id, delivery_id)
);
CREATE INDEX deliveries_waiting ON deliveries (endpoint_id, is_retry, due_at) WHERE state = 'waiting';
CREATE INDEX deliveries_failed ON deliveries (team_id, endpoint_id, created_at) WHERE state = 'failed';
CREATE INDEX deliveries_by_age ON deliveries USING brin (created_at);

-- What came of each attempt, kept for the newest deliveries of an endpoint.
CREATE TABLE attempts (
    team_id      uuid NOT NULL,
    endpoint_id  uuid NOT NULL,
    delivery_id  uuid NOT NULL,
    attempt      smallint NOT NULL CHECK (attempt >= 1),
    -- Where it went: the endpoint's URL may have changed since.
    url          text NOT NULL,
    attempted_at timestamptz NOT NULL,
    duration_ms  integer NOT NULL,
    -- The answer's status and the first bytes of its body; NULL when there was no answer.
    status       smallint,
    answer       text,
    -- Why it failed; NULL when it did not.
    error        text,
    PRIMARY KEY (team_id, endpoint_id, delivery_id, attempt)
);

-- E-mails to be sent. Written in the transaction that causes them.
CREATE TABLE emails (
    team_id    uuid NOT NULL,
    email_id   uuid NOT NULL,
    subject    text NOT NULL,
    body       text NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    -- When to try; past the end of a lease for one that a worker has.
    due_at     timestamptz NOT NULL,
    sent_at    timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, email_id)
);
CREATE INDEX emails_due ON emails (due_at) WHERE sent_at IS NULL;
