-- Scans of mailpieces, their order in feeds, and the webhook deliveries that they cause.

-- The first UUID of version 7 of a moment: rows whose ids are less are older.
CREATE FUNCTION first_id_of(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- A recorded scan, also when the same phone scans the same mailpiece again.
--
-- Scans are kept longest, are never changed, and go by age only: a partition for each month, scans_YYYY_MM. Inserts touch
-- the pages of one month's index, and a month is forgotten by dropping its table. Ids are in the order of time, so they
-- are what is partitioned by, and stay the key.
CREATE TABLE scans (
    team_id     uuid NOT NULL,
    scan_id     uuid NOT NULL,
    piece_id    uuid NOT NULL,
    campaign_id text NOT NULL,
    -- Who asked: a person's phone, or a program that looks ahead (a link preview, a prefetch). The constraint has its name
    -- from databases in which this table took the place of an earlier one.
    visitor     text NOT NULL CONSTRAINT scans_visitor_check1 CHECK (visitor IN ('person', 'program')),
    -- Where it led.
    destination text NOT NULL,
    -- From the network that the request came from; NULL when not known.
    city        text,
    region      text,
    -- Degrees, WGS 84.
    latitude    double precision,
    longitude   double precision,
    scanned_at  timestamptz NOT NULL,
    PRIMARY KEY (team_id, scan_id)
) PARTITION BY RANGE (scan_id);
-- Takes what no partition is there for yet: no scan is refused because a periodic job has not run.
CREATE TABLE scans_other PARTITION OF scans DEFAULT;

-- Makes the partitions of the month of "moment" and of those that follow, where they are missing. What the default
-- partition has of a month moves into it. Returns the end of the last one. It runs as the owner of the tables: the process
-- that calls it owns none.
CREATE FUNCTION scan_partitions_make(moment timestamptz, months integer) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
    first timestamptz := date_trunc('month', moment);
    last  timestamptz;
    name  text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('scan_partitions'));
    FOR month IN 0 .. months LOOP
        last := first + interval '1 month';
        name := 'scans_' || to_char(first, 'YYYY_MM');
        IF to_regclass(quote_ident(name)) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE scans INCLUDING ALL)', name);
            EXECUTE format('WITH moved AS (DELETE FROM scans_other WHERE scan_id >= %L AND scan_id < %L RETURNING *)
                            INSERT INTO %I SELECT * FROM moved', first_id_of(first), first_id_of(last), name);
            EXECUTE format('ALTER TABLE scans ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                           name, first_id_of(first), first_id_of(last));
        END IF;
        first := last;
    END LOOP;
    RETURN last;
END $$;

-- Drops the partitions of months that ended before "moment". Returns how many.
CREATE FUNCTION scan_partitions_drop(moment timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
    name    text;
    dropped bigint := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('scan_partitions'));
    FOR name IN
        SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'scans'::regclass AND relname ~ '^scans_\d{4}_\d{2}$'
            AND to_timestamp(right(relname, 7), 'YYYY_MM') + interval '1 month' <= moment
    LOOP
        EXECUTE format('DROP TABLE %I', name);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

-- This month and four ahead; from then on the dispatcher makes them.
SELECT scan_partitions_make(now(), 4);

-- Feeds: what happened to a team's mailpieces, each thing in its place once it was committed.
--
-- An id or a time is made before the commit, so a reader that pages by one skips whatever was made earlier and committed
-- later. Here rows are only noted by the statement that writes them. They get their positions afterwards, in short
-- transactions of which each team has one at a time: a position is never visible before a lower one, and writers wait for
-- nobody.

-- How far a team's feed has come. Whoever gives out positions holds its row.
CREATE TABLE feeds (
    team_id  uuid NOT NULL,
    -- What it tells of: 'scans'.
    feed     text NOT NULL,
    -- Of its newest item; items are numbered from 1, without gaps.
    position bigint NOT NULL CHECK (position >= 0),
    PRIMARY KEY (team_id, feed)
-- Every position changes it in its place.
) WITH (fillfactor = 50);

-- Items of one team that one statement wrote.
CREATE TABLE feed_batches (
    team_id  uuid NOT NULL,
    feed     text NOT NULL,
    -- The first of its items.
    batch_id uuid NOT NULL,
    item_ids uuid[] NOT NULL CHECK (cardinality(item_ids) > 0),
    -- Of its last item, the others lie right before it; NULL until it is given out.
    position bigint,
    PRIMARY KEY (team_id, feed, batch_id)
);
-- A page of a feed.
CREATE UNIQUE INDEX feed_batches_by_position ON feed_batches (team_id, feed, position) WHERE position IS NOT NULL;
-- What waits for its position.
CREATE INDEX feed_batches_waiting ON feed_batches (team_id, feed, batch_id) WHERE position IS NULL;

-- Notes what a statement has written to "scans". A trigger, so that it holds for whoever writes them, gateways of an
-- earlier version among them. It runs as the owner of the tables: nobody else needs to write here.
CREATE FUNCTION scans_note() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO feed_batches (team_id, feed, batch_id, item_ids)
    SELECT team_id, 'scans', (array_agg(scan_id ORDER BY scan_id))[1], array_agg(scan_id ORDER BY scan_id)
    FROM recorded GROUP BY team_id;
    RETURN NULL;
END $$;
CREATE TRIGGER scans_note AFTER INSERT ON scans REFERENCING NEW TABLE AS recorded
    FOR EACH STATEMENT EXECUTE FUNCTION scans_note();

-- An endpoint: where a team wants its events.
--
--   active ──20 failed attempts in a row──▶ disabled
--     │  ▲◀────────────resume─────────────────┘
--   pause └─resume─ paused                 any ──delete──▶ deleted
CREATE TABLE endpoints (
    team_id              uuid NOT NULL REFERENCES teams,
    endpoint_id          uuid NOT NULL,
    url                  text NOT NULL,
    state                text NOT NULL CHECK (state IN ('active', 'paused', 'disabled', 'deleted')),
    -- Every campaign, later ones too; else those in endpoint_campaigns.
    all_campaigns        boolean NOT NULL,
    -- Failed attempts since the last one that succeeded; those of test events do not count.
    failures_in_row      integer NOT NULL DEFAULT 0,
    -- Why the last attempt that failed did; NULL when none has.
    last_error           text,
    -- The keys that sign deliveries, when the team has asked for signatures. After a rotation the earlier one signs as
    -- well until its time is over.
    secret               bytea,
    earlier_secret       bytea,
    earlier_secret_until timestamptz,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    PRIMARY KEY (team_id, endpoint_id),
    CHECK ((earlier_secret IS NULL) = (earlier_secret_until IS NULL)),
    CHECK (earlier_secret IS NULL OR secret IS NOT NULL)
);
-- A team has an endpoint once, also when two of its members add it at the same time.
CREATE UNIQUE INDEX endpoints_by_url ON endpoints (team_id, url) WHERE state <> 'deleted';
-- Waiting deliveries are found by endpoint alone.
CREATE UNIQUE INDEX endpoints_by_id ON endpoints (endpoint_id);

-- A campaign whose events an endpoint gets.
CREATE TABLE endpoint_campaigns (
    team_id     uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    campaign_id text NOT NULL REFERENCES campaigns,
    PRIMARY KEY (team_id, endpoint_id, campaign_id),
    FOREIGN KEY (team_id, endpoint_id) REFERENCES endpoints
);

-- An event: what is sent, byte for byte the same on every attempt. It is only kept when there was an endpoint to tell. Old
-- ones are found by the key, which is in the order of time within each team.
CREATE TABLE events (
    team_id     uuid NOT NULL,
    -- The scan's id for a scan's event.
    event_id    uuid NOT NULL,
    is_test     boolean NOT NULL,
    body        text NOT NULL,
    created_at  timestamptz NOT NULL,
    -- The place in a trace of the scan that made the event (W3C traceparent), below which its deliveries go. NULL when
    -- traces are off or the scan's is not among those that are sent.
    traceparent text,
    PRIMARY KEY (team_id, event_id)
);

-- A delivery: one event on its way to one endpoint.
--
--   waiting ──2xx──▶ delivered
--     │  └──last attempt failed──▶ failed
--     └──endpoint paused, disabled or deleted──▶ cancelled
--
-- A worker that claims a waiting one moves its due_at to the end of its lease: while the worker lives nobody else finds it,
-- and when it dies the delivery falls due again. Old ones are found by the key, which is in the order of time within each
-- endpoint.
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
-- The two lanes of each endpoint.
CREATE INDEX deliveries_waiting ON deliveries (endpoint_id, is_retry, due_at) WHERE state = 'waiting';
-- What a replay sends again: what has failed, and what was cancelled after a failed attempt.
CREATE INDEX deliveries_replayable ON deliveries (team_id, endpoint_id, created_at)
    WHERE state = 'failed' OR (state = 'cancelled' AND attempts > 0);

-- An attempt: one POST of a delivery and what came back, kept for the newest deliveries of an endpoint.
CREATE TABLE attempts (
    team_id      uuid NOT NULL,
    endpoint_id  uuid NOT NULL,
    delivery_id  uuid NOT NULL,
    -- Counted from 1.
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

-- An e-mail to a team's owners and admins. Written in the transaction that causes it.
CREATE TABLE emails (
    team_id    uuid NOT NULL,
    email_id   uuid NOT NULL,
    subject    text NOT NULL,
    body       text NOT NULL,
    -- Tries begun.
    attempts   integer NOT NULL DEFAULT 0,
    -- When to try; past the end of a lease for one that a worker has.
    due_at     timestamptz NOT NULL,
    sent_at    timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, email_id)
);
CREATE INDEX emails_due ON emails (due_at) WHERE sent_at IS NULL;
