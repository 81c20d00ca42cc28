-- What the post tells of mailpieces: files of its scans, mailpieces that came back, and the events that endpoints hear of.

-- A file of the post's scans, and how far it is. Its rows are taken in portions, each in one transaction with this row, so that a
-- file whose import was killed goes on where it stopped, and one that is in already is known.
CREATE TABLE postal_imports (
    -- Of the whole file: a digest (BLAKE3) of 32 bytes.
    content_hash bytea PRIMARY KEY CHECK (octet_length(content_hash) = 32),
    -- The name that it had last.
    name         text NOT NULL,
    -- Rows that are in.
    rows_read    bigint NOT NULL CHECK (rows_read >= 0),
    -- What became of them, as the command line prints it.
    counts       jsonb NOT NULL,
    started_at   timestamptz NOT NULL,
    finished_at  timestamptz
);

-- A file that was seen in the watched place and needs no second look.
CREATE TABLE postal_inbox_files (
    name         text PRIMARY KEY,
    -- What tells a changed file from the one that was read: its length and the time of its last change.
    version      text NOT NULL,
    -- Why it could not be read; NULL for one that is in.
    problem      text,
    seen_at      timestamptz NOT NULL
);

-- An address from which a mailpiece came back: the team's campaigns do not mail it, but for those that say so.
CREATE TABLE returned_addresses (
    team_id      uuid NOT NULL,
    address_id   uuid NOT NULL,
    -- The mailpiece that came back last.
    mailpiece_id uuid NOT NULL,
    returned_at  timestamptz NOT NULL,
    recorded_at  timestamptz NOT NULL,
    PRIMARY KEY (team_id, address_id)
);

-- When the mailpieces of a run were handed to the post, as the operator says; NULL until then.
ALTER TABLE print_runs ADD COLUMN handed_over_at timestamptz;

-- How far along the way through the post a state is, from 1: the same order as that of MailpieceState::advance_to.
CREATE FUNCTION postal_rank(state text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_position(ARRAY['entered', 'in_transit', 'forwarded', 'out_for_delivery', 'delivered', 'returned'], state)
$$;

-- What is looked through for stalled mailpieces, from one to the next: a whole run has the same moment.
DROP INDEX mailpiece_progress_moving;
CREATE INDEX mailpiece_progress_moving ON mailpiece_progress (seen_at, team_id, mailpiece_id)
    WHERE stalled_at IS NULL AND state IN ('entered', 'in_transit', 'forwarded', 'out_for_delivery');

-- A kind of event besides scans of QR codes that an endpoint wants.
CREATE TABLE endpoint_event_types (
    team_id     uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_type  text NOT NULL CHECK (event_type IN ('printed', 'entered', 'in_transit', 'delivered', 'returned', 'stalled', 'cancelled')),
    -- What was recorded before is not told.
    added_at    timestamptz NOT NULL,
    PRIMARY KEY (team_id, endpoint_id, event_type),
    FOREIGN KEY (team_id, endpoint_id) REFERENCES endpoints
);

-- How far events were made of what a team's feed of mailpieces tells; only teams have a row with an endpoint that ever wanted them.
CREATE TABLE mailpiece_followers (
    team_id       uuid PRIMARY KEY,
    -- The last item of the feed that is done.
    position      bigint NOT NULL CHECK (position >= 0),
    -- The last place that is done of the print run that the next item is.
    run_position  integer NOT NULL DEFAULT 0 CHECK (run_position >= 0)
) WITH (fillfactor = 50);
