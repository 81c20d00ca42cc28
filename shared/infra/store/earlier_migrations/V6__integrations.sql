-- Integrations: the contacts that a team's own CRM pushes.

CREATE TABLE integrations (
    integration_id uuid PRIMARY KEY,
    team_id        uuid NOT NULL REFERENCES teams,
    name           text NOT NULL,
    -- What the owner set; whether it is set up or syncing is told by its fields and syncs.
    availability   text NOT NULL DEFAULT 'active' CHECK (availability IN ('active', 'paused', 'disconnected')),
    -- A full sync that would remove more than this share of the contacts asks first; NULL never asks.
    removal_guard_percent smallint CHECK (removal_guard_percent BETWEEN 0 AND 100),
    -- When a sync completed for the first time.
    first_completed_at timestamptz,
    created_at     timestamptz NOT NULL,
    UNIQUE (team_id, name)
);
ALTER TABLE api_keys ADD FOREIGN KEY (integration_id) REFERENCES integrations;
CREATE INDEX api_keys_by_integration ON api_keys (integration_id) WHERE integration_id IS NOT NULL;

CREATE TABLE integration_fields (
    integration_id uuid NOT NULL REFERENCES integrations,
    -- What records call it.
    key         text COLLATE "C" NOT NULL,
    -- The order of first declarations.
    position    integer NOT NULL,
    label       text NOT NULL,
    type        text NOT NULL CHECK (type IN ('text', 'number', 'date', 'yes_no', 'choice')),
    options     text[] NOT NULL DEFAULT '{}',
    -- The contact column that it fills. Contacts hold values by key, so a change here rewrites none of them.
    semantic    text,
    declared_at timestamptz NOT NULL,
    PRIMARY KEY (integration_id, key)
);
CREATE UNIQUE INDEX integration_fields_by_semantic ON integration_fields (integration_id, semantic)
    WHERE semantic IS NOT NULL;

-- One sync.
--
--   open ──complete──▶ completed (a full one removed what it did not receive)
--    └──24 hours────▶ expired   (it removed nothing)
--
-- An open sync past its time counts as expired wherever it is read; the periodic job writes it down.
CREATE TABLE syncs (
    integration_id   uuid NOT NULL REFERENCES integrations,
    sync_id          uuid NOT NULL,
    mode             text NOT NULL CHECK (mode IN ('full', 'delta')),
    status           text NOT NULL CHECK (status IN ('open', 'completed', 'expired')),
    begun_at         timestamptz NOT NULL,
    expires_at       timestamptz NOT NULL,
    completed_at     timestamptz,
    -- Counters; a batch adds to them in the last statement before its commit.
    batches_received bigint NOT NULL DEFAULT 0,
    records_upserted bigint NOT NULL DEFAULT 0,
    records_deleted  bigint NOT NULL DEFAULT 0,
    records_rejected bigint NOT NULL DEFAULT 0,
    -- The number of the last issue stored: issues are numbered in the order of commits.
    last_issue       bigint NOT NULL DEFAULT 0,
    marked_removed   bigint NOT NULL DEFAULT 0,
    -- When the owner took the removal back.
    undone_at        timestamptz,
    -- Whether its received contacts were forgotten.
    is_purged        boolean NOT NULL DEFAULT false,
    PRIMARY KEY (integration_id, sync_id),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX syncs_open ON syncs (integration_id) WHERE status = 'open';
CREATE INDEX syncs_expiring ON syncs (expires_at) WHERE status = 'open';
CREATE INDEX syncs_unpurged ON syncs (begun_at) WHERE status <> 'open' AND NOT is_purged;
CREATE INDEX syncs_purged ON syncs (begun_at) WHERE is_purged;

-- A contact is never deleted, only removed; one that comes back is restored.
CREATE TABLE contacts (
    integration_id uuid NOT NULL,
    external_id    text COLLATE "C" NOT NULL,
    -- Names the contact in 8 bytes, in the order of arrival.
    contact_number bigint GENERATED ALWAYS AS IDENTITY (CACHE 100),
    -- Values as text, by field key; a blank is kept as ''.
    fields         jsonb NOT NULL,
    removed_at     timestamptz,
    -- The full sync that did not receive it; NULL when the client deleted it.
    removed_in     uuid,
    -- The sync that last wrote it. A contact that is received unchanged is not written.
    changed_in     uuid NOT NULL,
    created_at     timestamptz NOT NULL,
    changed_at     timestamptz NOT NULL,
    PRIMARY KEY (integration_id, external_id),
    CHECK (removed_in IS NULL OR removed_at IS NOT NULL)
-- Room for a changed contact beside its old version, so that no index is touched.
) WITH (fillfactor = 90);
-- What completing and the address book read: both find all they need of a contact in the index.
CREATE INDEX contacts_live ON contacts (integration_id, contact_number) WHERE removed_at IS NULL;
-- What an undo reads.
CREATE INDEX contacts_removed ON contacts (integration_id, removed_in) WHERE removed_in IS NOT NULL;

-- What an open full sync received: one row for each batch, so that a contact that did not change costs
-- eight bytes and no write to itself. Completing reads the rows once; later they are forgotten.
CREATE TABLE sync_received (
    integration_id  uuid NOT NULL,
    sync_id         uuid NOT NULL,
    batch           bigint NOT NULL,
    contact_numbers bigint[] NOT NULL,
    PRIMARY KEY (integration_id, sync_id, batch)
);
-- Numbers hardly compress; trying costs more than it saves.
ALTER TABLE sync_received ALTER COLUMN contact_numbers SET STORAGE EXTERNAL;

-- Rejected records and values dropped from accepted ones.
CREATE TABLE sync_issues (
    integration_id uuid NOT NULL,
    sync_id        uuid NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('rejection', 'warning')),
    issue          bigint NOT NULL,
    batch          bigint NOT NULL,
    -- Position in the batch.
    index          integer NOT NULL,
    external_id    text COLLATE "C",
    code           text NOT NULL,
    field          text,
    message        text NOT NULL,
    PRIMARY KEY (integration_id, sync_id, kind, issue)
);
CREATE INDEX sync_issues_by_contact ON sync_issues (integration_id, external_id, sync_id, issue)
    WHERE external_id IS NOT NULL;

-- What was answered to a request that changed something. Stands exactly when the change does.
CREATE TABLE idempotency_keys (
    integration_id uuid NOT NULL,
    key            text COLLATE "C" NOT NULL,
    request_hash   bytea NOT NULL CHECK (octet_length(request_hash) = 32),
    response       bytea NOT NULL,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (integration_id, key)
);
ALTER TABLE idempotency_keys ALTER COLUMN response SET STORAGE EXTERNAL;
CREATE INDEX idempotency_keys_by_creation ON idempotency_keys (created_at);
