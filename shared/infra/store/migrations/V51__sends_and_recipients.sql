-- Requests, the recipients that they sent, and the work that they leave for later.

-- A send: one POST /api/v1/recipients.
--
--   claimed ──reserve──▶ reserved ──settle──▶ finished
--      └───── nothing to mail: straight ─────────▲
--
-- A request that a worker holds is leased to it; past the lease another one goes on from the state.
CREATE TABLE sends (
    team_id      uuid NOT NULL,
    send_id      uuid NOT NULL,
    campaign_id  text NOT NULL,
    -- Hash of the campaign and the addresses as sent: what makes a request a repeat of another.
    fingerprint  bytea NOT NULL,
    state        text NOT NULL CHECK (state IN ('claimed', 'reserved', 'finished')),
    lease_id     uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    -- The whole answer as if the charge succeeds, from "reserved" on; the stored response once finished.
    response     bytea,
    -- Positions that are duplicates only of an earlier, accepted recipient of the same request.
    copies       integer[] NOT NULL DEFAULT '{}',
    -- Recipients mailed if the charge succeeds, from "reserved" on; 0 when it was declined.
    mailed       integer,
    created_at   timestamptz NOT NULL,
    finished_at  timestamptz,
    -- What a finished request has cost, for its sender: the gateway, which tells it, may not look into money.
    cost_cents   bigint CHECK (cost_cents >= 0),
    PRIMARY KEY (team_id, send_id),
    CHECK ((state = 'finished') = (finished_at IS NOT NULL)),
    CHECK ((state = 'claimed') = (response IS NULL))
);
-- The answer is compressed before it is written, or not at all: it is read whole or never.
ALTER TABLE sends ALTER COLUMN response SET STORAGE EXTERNAL;
-- A request is claimed by writing its row: of two equal ones at a time one finds the other.
CREATE UNIQUE INDEX sends_running ON sends (team_id, campaign_id, fingerprint) WHERE state <> 'finished';
-- The last finished request of which this one is a repeat.
CREATE INDEX sends_finished ON sends (team_id, campaign_id, fingerprint, finished_at DESC) WHERE state = 'finished';
-- What a worker that died has left to settle.
CREATE INDEX sends_unfinished ON sends (leased_until) WHERE state = 'reserved';
-- Forgetting old requests.
CREATE INDEX sends_by_creation ON sends (created_at);

-- A key that a sender gave its request (Idempotency-Key). It names the send whose response is the answer to every request
-- with that key. One whose send is gone is free: the send failed as a whole, or its time is over.
CREATE TABLE send_keys (
    team_id      uuid NOT NULL,
    key          text NOT NULL,
    -- What the request asked for: with the same key it must be the same.
    request_hash bytea NOT NULL,
    send_id      uuid NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, key)
);
-- Forgetting old keys.
CREATE INDEX send_keys_by_creation ON send_keys (created_at);

-- A recipient of a campaign with its latest outcome, one for each entry (for an address that could not be verified, an
-- entry id derived from it as sent).
--
--   mailed ───────────── stays: a later send that does not mail it again does not undo it
--   not_mailed <reason>  a later send overwrites it
--   filtered_conditions  the daily re-check turns it into mailed
CREATE TABLE recipients (
    team_id      uuid NOT NULL,
    campaign_id  text NOT NULL,
    entry_id     uuid NOT NULL,
    address_id   uuid NOT NULL,
    first_name   text NOT NULL,
    last_name    text NOT NULL,
    -- One line, for people.
    address      text NOT NULL,
    -- The sender's own; NULL when it gave none.
    reference    text,
    status       text NOT NULL CHECK (status IN ('mailed', 'not_mailed')),
    -- Why it was not mailed.
    reason       text CHECK ((reason IS NULL) = (status = 'mailed')),
    -- The charge that the outcome hangs on: if it is declined, so is the recipient.
    charge_id    uuid,
    received_at  timestamptz NOT NULL,
    -- Set when the sender removed the recipient from the campaign.
    removed_at   timestamptz,
    -- How far the address was verified, or why it was not.
    verification text NOT NULL DEFAULT '',
    PRIMARY KEY (team_id, campaign_id, entry_id)
);
-- Those of a charge that was declined.
CREATE INDEX recipients_by_charge ON recipients (charge_id) WHERE charge_id IS NOT NULL;
-- Who waits on filter conditions, looked up by address and walked in order. One index for both: with one for each, a plan
-- made while the table is small may walk instead of looking up.
CREATE INDEX recipients_waiting ON recipients (team_id, campaign_id, address_id, entry_id)
    WHERE reason = 'filtered_conditions';
-- Whether an address was removed from the campaign.
CREATE INDEX recipients_removed ON recipients (team_id, campaign_id, address_id) WHERE removed_at IS NOT NULL;
-- Recipients by their outcome, the newest at its end: those of a request lie together. All of a campaign's, the newest
-- first, are the last of each outcome, merged.
CREATE INDEX recipients_by_outcome
    ON recipients (team_id, campaign_id, coalesce(reason, status), received_at, entry_id);

-- What people look recipients up by: last and first name, and address, in lower case. In an index of recipients such texts
-- lie anywhere, and writing them doubles the time of a large request: so the request only notes in recipients_unsearched
-- that there is something to look for, and the mailer writes this table behind its back. A name or an address is never
-- another one, for the entry's id is made of it.
CREATE TABLE recipient_search (
    team_id     uuid NOT NULL,
    campaign_id text NOT NULL,
    key         text COLLATE "C" NOT NULL,
    entry_id    uuid NOT NULL,
    PRIMARY KEY (team_id, campaign_id, key, entry_id)
);

-- Recipients of this campaign and moment are not in recipient_search and entry_search yet. A line: numbered as requests
-- come, and worked off in that order.
CREATE TABLE recipients_unsearched (
    batch       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id     uuid NOT NULL,
    campaign_id text NOT NULL,
    -- recipients.received_at.
    received_at timestamptz NOT NULL
);

-- Work that falls due: later steps of a campaign, chunks of the daily re-check. A worker leases a job, does it in bounded
-- portions, and notes in "progress" where the next portion starts.
CREATE TABLE jobs (
    team_id      uuid NOT NULL,
    job_id       uuid NOT NULL,
    campaign_id  text NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('step', 'recheck')),
    -- A step job mails this step to the recipients of this charge.
    charge_id    uuid,
    step         smallint,
    -- The last entry or mailpiece looked at; NULL before the first portion.
    progress     uuid,
    -- The charge of the portion under way; set when it is reserved, cleared when it is settled.
    open_charge  uuid,
    due_at       timestamptz NOT NULL,
    lease_id     uuid,
    leased_until timestamptz,
    -- Leases taken; a job that fails again and again is left for an operator to look at.
    attempts     integer NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, job_id),
    CHECK ((kind = 'step') = (charge_id IS NOT NULL AND step IS NOT NULL))
);
CREATE INDEX jobs_by_due ON jobs (due_at);
-- A campaign has one re-check.
CREATE UNIQUE INDEX jobs_one_recheck ON jobs (team_id, campaign_id) WHERE kind = 'recheck';
-- The next job of each team, however many another one has waiting.
CREATE INDEX jobs_by_team_and_due ON jobs (team_id, due_at);
