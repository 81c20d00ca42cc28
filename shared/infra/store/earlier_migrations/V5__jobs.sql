-- Work that falls due: later steps of a campaign, chunks of the daily re-check. A worker leases a job,
-- does it in bounded portions, and notes in "progress" where the next portion starts.
CREATE TABLE jobs (
    team_id      uuid NOT NULL,
    job_id       uuid NOT NULL,
    campaign_id  text NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('step', 'recheck')),
    -- A step job mails this step to the recipients of this charge.
    charge_id    uuid,
    step         smallint,
    -- The last entry or piece looked at; NULL before the first portion.
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
CREATE UNIQUE INDEX jobs_one_recheck ON jobs (team_id, campaign_id) WHERE kind = 'recheck';
