-- Feeds: what happened to a team's cards, each thing in its place once it was committed.
--
-- An id or a time is made before the commit, so a reader that pages by one skips whatever was made earlier and committed
-- later. Here rows are only noted by the statement that writes them. They get their positions afterwards, in short
-- transactions of which each team has one at a time: a position is never visible before a lower one, and writers wait for nobody.

-- How far a team's feed has come. Whoever gives out positions holds its row.
CREATE TABLE feeds (
    team_id  uuid NOT NULL,
    -- What it tells of: 'scans'.
    feed     text NOT NULL,
    -- Of its newest item; items are numbered from 1, without gaps.
    position bigint NOT NULL CHECK (position >= 0),
    PRIMARY KEY (team_id, feed)
) WITH (fillfactor = 50);

-- Items of one team that one statement wrote.
CREATE TABLE feed_batches (
    team_id  uuid NOT NULL,
    feed     text NOT NULL,
    -- The first of its items; ids are UUIDs of version 7.
    batch_id uuid NOT NULL,
    item_ids uuid[] NOT NULL CHECK (cardinality(item_ids) > 0),
    -- Of its last item, the others lie right before it; NULL until it is given out.
    position bigint,
    PRIMARY KEY (team_id, feed, batch_id)
);
CREATE UNIQUE INDEX feed_batches_by_position ON feed_batches (team_id, feed, position) WHERE position IS NOT NULL;
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

-- Waits for the inserts under way, and those that follow wait for the end of this migration: a moment. Where somebody holds
-- the table for longer, the migration fails and can be run again.
SET LOCAL lock_timeout = '5s';
CREATE TRIGGER scans_note AFTER INSERT ON scans REFERENCING NEW TABLE AS recorded
    FOR EACH STATEMENT EXECUTE FUNCTION scans_note();
