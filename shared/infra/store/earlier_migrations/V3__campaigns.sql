-- Campaigns, their designs, and the recipients that they received.

CREATE TABLE designs (
    team_id    uuid NOT NULL REFERENCES teams,
    design_id  uuid NOT NULL,
    name       text NOT NULL,
    version    integer NOT NULL CHECK (version > 0),
    -- Made by a language model and not yet opened and saved by a person: cannot print.
    ai_draft   boolean NOT NULL DEFAULT false,
    document   jsonb NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, design_id),
    UNIQUE (team_id, name)
);

CREATE TABLE campaigns (
    campaign_id  text PRIMARY KEY CHECK (campaign_id ~ '^PA-[A-Z0-9]{6}$'),
    team_id      uuid NOT NULL REFERENCES teams,
    name         text NOT NULL,
    status       text NOT NULL CHECK (status IN ('active', 'paused')),
    -- Where its audience comes from; only "api" takes requests.
    audience     text NOT NULL CHECK (audience IN ('api', 'list')),
    -- Cents; NULL is no limit. committed_cents is what settled and pending charges take of it.
    budget_cents    bigint CHECK (budget_cents >= 0),
    committed_cents bigint NOT NULL DEFAULT 0 CHECK (committed_cents >= 0),
    -- Days; NULL is off. The longer of this and the duplicate window holds.
    resend_protection_days integer CHECK (resend_protection_days > 0),
    -- GeoJSON Polygon or MultiPolygon as the owner gave it; NULL is everywhere.
    area         text,
    -- The tree of filter conditions; NULL is none.
    conditions   jsonb,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    UNIQUE (team_id, name)
);

CREATE TABLE campaign_steps (
    campaign_id text NOT NULL REFERENCES campaigns,
    step        smallint NOT NULL CHECK (step >= 1),
    design_id   uuid,
    postage     text NOT NULL CHECK (postage IN ('standard', 'first_class')),
    -- Days after step 1; 0 for step 1 itself.
    delay_days  integer NOT NULL CHECK (delay_days >= 0 AND (step > 1 OR delay_days = 0)),
    PRIMARY KEY (campaign_id, step)
);

CREATE TABLE do_not_mail (
    campaign_id text NOT NULL REFERENCES campaigns,
    address_id  uuid NOT NULL,
    -- One line, for people.
    address     text NOT NULL,
    added_at    timestamptz NOT NULL,
    PRIMARY KEY (campaign_id, address_id)
);

-- Recipients received: the latest outcome per campaign and entry (for an address that could not be
-- verified, an entry id derived from it as sent).
--
--   mailed ───────────── stays: a later send that does not mail it again does not undo it
--   not_mailed <reason>  a later send overwrites it
--   filtered_conditions  the daily re-check turns it into mailed
CREATE TABLE recipients (
    team_id     uuid NOT NULL,
    campaign_id text NOT NULL,
    entry_id    uuid NOT NULL,
    address_id  uuid NOT NULL,
    first_name  text NOT NULL,
    last_name   text NOT NULL,
    address     text NOT NULL,
    reference   text,
    status      text NOT NULL CHECK (status IN ('mailed', 'not_mailed')),
    reason      text CHECK ((reason IS NULL) = (status = 'mailed')),
    -- The charge that the outcome hangs on: if it is declined, so is the recipient.
    charge_id   uuid,
    received_at timestamptz NOT NULL,
    -- Set when the sender removed the recipient from the campaign.
    removed_at  timestamptz,
    PRIMARY KEY (team_id, campaign_id, entry_id)
);
CREATE INDEX recipients_by_charge ON recipients (charge_id) WHERE charge_id IS NOT NULL;
CREATE INDEX recipients_waiting ON recipients (team_id, campaign_id, address_id)
    WHERE reason = 'filtered_conditions';
CREATE INDEX recipients_waiting_in_order ON recipients (team_id, campaign_id, entry_id)
    WHERE reason = 'filtered_conditions';
CREATE INDEX recipients_removed ON recipients (team_id, campaign_id, address_id)
    WHERE removed_at IS NOT NULL;
