-- What one process does for all the others: it holds the duty until it has been silent for the length of a lease. Unlogged:
-- after a crash of the database somebody takes each duty anew.
CREATE UNLOGGED TABLE duties (
    duty         text PRIMARY KEY,
    holder       uuid NOT NULL,
    leased_until timestamptz NOT NULL
) WITH (fillfactor = 50);

-- The first UUID of version 7 of a moment: rows whose ids are less are older.
CREATE FUNCTION first_id_of(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Scans are kept longest, are never changed, and go by age only: a partition for each month. Inserts touch the pages of
-- one month's index, and a month is forgotten by dropping its table. Ids are in the order of time, so they are what is
-- partitioned by, and stay the key.
ALTER TABLE scans RENAME TO scans_before;
ALTER TABLE scans_before RENAME CONSTRAINT scans_pkey TO scans_before_pkey;
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

-- From the month of the oldest scan to three ahead.
SELECT scan_partitions_make(since, extract(year FROM age(now(), since))::integer * 12
    + extract(month FROM age(now(), since))::integer + 4)
FROM (SELECT least(now(), min(scanned_at)) AS since FROM scans_before) oldest;
INSERT INTO scans SELECT * FROM scans_before;
DROP TABLE scans_before;

-- Old events and deliveries are found by their keys, which are in the order of time within each team and endpoint. A
-- range index by age no longer finds them once new rows have taken the places of old ones: each of its ranges then spans
-- all ages, and looking for old rows reads the whole table.
DROP INDEX events_by_age;
DROP INDEX deliveries_by_age;
