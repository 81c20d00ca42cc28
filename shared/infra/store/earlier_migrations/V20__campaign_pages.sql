-- What the pages about campaigns and the first page ask for.

-- Recipients by their outcome, the newest at its end: those of a request lie together. All of a campaign's, the newest
-- first, are the last of each outcome, merged.
CREATE INDEX recipients_by_outcome
    ON recipients (team_id, campaign_id, coalesce(reason, status), received_at, entry_id);

-- What people look for recipients by: last and first name, and address, in lower case. In an index such texts lie anywhere,
-- and writing them doubles the time of a large request: so it only notes in recipients_unsearched that there is something
-- to look for, and the mailer writes this table behind its back. A name or an address is never another one: it is what an
-- entry's id is made of.
CREATE TABLE recipient_search (
    team_id     uuid NOT NULL,
    campaign_id text NOT NULL,
    key         text COLLATE "C" NOT NULL,
    entry_id    uuid NOT NULL,
    PRIMARY KEY (team_id, campaign_id, key, entry_id)
);
-- Recipients of this campaign and moment are not in recipient_search yet.
CREATE TABLE recipients_unsearched (
    batch       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id     uuid NOT NULL,
    campaign_id text NOT NULL,
    received_at timestamptz NOT NULL
);
INSERT INTO recipients_unsearched (team_id, campaign_id, received_at)
SELECT DISTINCT team_id, campaign_id, received_at FROM recipients;

CREATE INDEX do_not_mail_by_address ON do_not_mail (campaign_id, (lower(address) COLLATE "C"), address_id);

-- What happened to a campaign on a day of the team's, added up in the transaction in which it happened.
CREATE TABLE campaign_days (
    team_id     uuid NOT NULL,
    day         date NOT NULL,
    campaign_id text NOT NULL,
    -- "sends": requests. "cards": cards made. "scans": scans by people. "mailed" and the reasons: recipients with this outcome.
    figure      text NOT NULL,
    -- Requests are counted with the campaign locked, in slot 0. Scans come from everywhere at once: each connection counts in
    -- the slot of its number, so that they hardly ever wait for each other.
    slot        smallint NOT NULL,
    amount      bigint NOT NULL,
    PRIMARY KEY (team_id, day, campaign_id, figure, slot)
-- Room for a changed row beside its old version, so that no index is touched.
) WITH (fillfactor = 50);
CREATE INDEX campaign_days_by_day ON campaign_days USING brin (day);
