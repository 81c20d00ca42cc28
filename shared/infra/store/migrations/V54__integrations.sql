-- Integrations: the contacts that a team's own CRM pushes.

-- An integration: a connection to one CRM. One that its team has removed opens for nobody, and its contacts count no
-- more; the syncer erases them later.
--
--   standing ──remove──▶ removed ──after a setting's days──▶ erased (its row and revoked keys stay, for the log and 401)
CREATE TABLE integrations (
    integration_id        uuid PRIMARY KEY,
    team_id               uuid NOT NULL REFERENCES teams,
    name                  text NOT NULL,
    -- What the owner set; whether it is set up or syncing is told by its fields and syncs.
    availability          text NOT NULL DEFAULT 'active' CHECK (availability IN ('active', 'paused', 'disconnected')),
    -- The removal guard: a full sync that would remove more than this share of the contacts asks first, if that is at
    -- least the minimum below. NULL never asks.
    removal_guard_percent smallint CHECK (removal_guard_percent BETWEEN 0 AND 100),
    -- When a sync completed for the first time.
    first_completed_at    timestamptz,
    created_at            timestamptz NOT NULL,
    -- Contacts. 0 for integrations from before it was kept.
    removal_guard_minimum integer NOT NULL DEFAULT 0 CHECK (removal_guard_minimum >= 0),
    removed_at            timestamptz,
    erased_at             timestamptz,
    CONSTRAINT integrations_erased_after_removal CHECK (erased_at IS NULL OR removed_at IS NOT NULL)
);
-- A name is one integration's; a removed one gives it back.
CREATE UNIQUE INDEX integrations_by_name ON integrations (team_id, name) WHERE removed_at IS NULL;
-- What is to be erased, by when it was removed.
CREATE INDEX integrations_to_erase ON integrations (removed_at) WHERE removed_at IS NOT NULL AND erased_at IS NULL;

ALTER TABLE api_keys ADD FOREIGN KEY (integration_id) REFERENCES integrations;
-- The keys of an integration: shown with it, revoked with it.
CREATE INDEX api_keys_by_integration ON api_keys (integration_id) WHERE integration_id IS NOT NULL;

-- A field that an integration declares.
CREATE TABLE integration_fields (
    integration_id     uuid NOT NULL REFERENCES integrations,
    -- What records call it.
    key                text COLLATE "C" NOT NULL,
    -- The order of first declarations.
    position           integer NOT NULL,
    -- What people call it.
    label              text NOT NULL,
    type               text NOT NULL CHECK (type IN ('text', 'number', 'date', 'yes_no', 'choice')),
    -- What a choice can be.
    options            text[] NOT NULL DEFAULT '{}',
    -- The contact column that it fills; NULL fills none. Contacts hold values by key, so a change here rewrites none.
    semantic           text,
    declared_at        timestamptz NOT NULL,
    -- The request that declared it first. A worker that dies between its commit and its reply leaves the request to
    -- another one, which counts these fields as added too and so gives the same answer.
    added_by           uuid,
    -- A field whose column the owner has chosen keeps that choice, whatever a client declares later.
    is_mapped_by_owner boolean NOT NULL DEFAULT false,
    PRIMARY KEY (integration_id, key)
);
-- A column is filled by one field.
CREATE UNIQUE INDEX integration_fields_by_semantic ON integration_fields (integration_id, semantic)
    WHERE semantic IS NOT NULL;

-- A sync: a round of pushes.
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
    -- Contacts that completing it removed.
    marked_removed   bigint NOT NULL DEFAULT 0,
    -- When the owner took the removal back.
    undone_at        timestamptz,
    -- Whether what it received was forgotten.
    is_purged        boolean NOT NULL DEFAULT false,
    -- A complete that the removal guard refused. It is noted outside of the refusal's own transaction, which is rolled
    -- back, and counts while the sync is open.
    held_back_at     timestamptz,
    -- Contacts that it would have removed, and their share of all, 0 to 1.
    held_back_count  bigint,
    held_back_share  double precision,
    PRIMARY KEY (integration_id, sync_id),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL)),
    CONSTRAINT syncs_held_back CHECK (num_nulls(held_back_at, held_back_count, held_back_share) IN (0, 3))
-- Every batch changes the counters: room for the new version beside the old one, so that no index is touched.
) WITH (fillfactor = 50);
-- An integration has one open sync.
CREATE UNIQUE INDEX syncs_open ON syncs (integration_id) WHERE status = 'open';
-- Housekeeping: what to expire, whose received contacts to forget, and what to forget altogether.
CREATE INDEX syncs_expiring ON syncs (expires_at) WHERE status = 'open';
CREATE INDEX syncs_unpurged ON syncs (begun_at) WHERE status <> 'open' AND NOT is_purged;
CREATE INDEX syncs_purged ON syncs (begun_at) WHERE is_purged;
-- The removal that can be taken back is the last one among many syncs.
CREATE INDEX syncs_removing ON syncs (integration_id, sync_id) WHERE status = 'completed' AND marked_removed > 0;

-- A contact: an accepted record as it is kept. Its row stays while its integration stands, removed or not; one that comes
-- back is restored.
--
-- A removed contact loses its values, and keeps its key, its number and its times: at once when its client deleted it,
-- later when a full sync missed it, whose removal can be taken back until then. The syncer erases what is left, in portions.
CREATE TABLE contacts (
    integration_id uuid NOT NULL,
    -- The client's own key.
    external_id    text COLLATE "C" NOT NULL,
    -- Names the contact in 8 bytes, in the order of arrival. Each connection takes a hundred at a time.
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
    -- Of the values that the last upsert wrote. A record with the same ones changes nothing, and is known by these
    -- 16 bytes without reading or parsing any values. NULL is like none.
    fingerprint    uuid,
    -- The removal whose values are erased: its removed_at. A contact that came back since and is removed again has
    -- another one.
    erased_at      timestamptz,
    PRIMARY KEY (integration_id, external_id),
    CHECK (removed_in IS NULL OR removed_at IS NOT NULL)
-- Room for a changed contact beside its old version, so that no index is touched.
) WITH (fillfactor = 90);
-- What completing and the address book read: both find all they need of a contact in the index.
CREATE INDEX contacts_live ON contacts (integration_id, contact_number) WHERE removed_at IS NULL;
-- What an undo reads.
CREATE INDEX contacts_removed ON contacts (integration_id, removed_in) WHERE removed_in IS NOT NULL;
-- What is to be erased: first what was deleted without it, by syncers of an earlier version; then what was missed, in the
-- order of removals. None of its columns changes with a contact's values, so that an update of these touches no index.
CREATE INDEX contacts_to_erase ON contacts ((CASE WHEN removed_in IS NULL THEN '-infinity'::timestamptz ELSE removed_at END))
    WHERE removed_at IS NOT NULL AND erased_at IS DISTINCT FROM removed_at;

-- Erases contacts of an integration that was removed, so many at the most; returns how many. It runs as the owner of the
-- tables: the process that calls it may delete no contact otherwise.
CREATE FUNCTION contacts_erase(removed uuid, portion bigint) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    WITH erased AS (
        DELETE FROM contacts WHERE ctid = ANY (ARRAY(
            SELECT contacts.ctid FROM contacts JOIN integrations USING (integration_id)
            WHERE contacts.integration_id = removed AND integrations.removed_at IS NOT NULL
            -- In the order of the key, whose dead entries are passed over: no portion begins at the table's first page again.
            ORDER BY external_id LIMIT portion))
        RETURNING 1
    )
    SELECT count(*) FROM erased
$$;

-- What an open full sync received: one row for each batch, so that a contact that did not change costs eight bytes and no
-- write to itself. Completing reads the rows once; later they are forgotten.
CREATE TABLE sync_received (
    integration_id  uuid NOT NULL,
    sync_id         uuid NOT NULL,
    batch           bigint NOT NULL,
    contact_numbers bigint[] NOT NULL,
    PRIMARY KEY (integration_id, sync_id, batch)
);
-- Numbers hardly compress; trying costs more than it saves.
ALTER TABLE sync_received ALTER COLUMN contact_numbers SET STORAGE EXTERNAL;

-- A rejection: a record that was not accepted, or a value dropped from one that was (a warning).
CREATE TABLE sync_issues (
    integration_id uuid NOT NULL,
    sync_id        uuid NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('rejection', 'warning')),
    -- Counted from 1 in its sync, in the order of commits.
    issue          bigint NOT NULL,
    batch          bigint NOT NULL,
    -- Position of the record in the batch.
    index          integer NOT NULL,
    -- NULL when the record had none that could be read.
    external_id    text COLLATE "C",
    code           text NOT NULL,
    -- The field's key; NULL when it is about the record.
    field          text,
    message        text NOT NULL,
    -- When a later batch of the same sync accepted what the issue was about; NULL while the issue stands, and for what
    -- was resolved before this was kept.
    resolved_at    timestamptz,
    PRIMARY KEY (integration_id, sync_id, kind, issue)
);
-- The issues of a contact: shown with it, resolved by a later batch.
CREATE INDEX sync_issues_by_contact ON sync_issues (integration_id, external_id, sync_id, issue)
    WHERE external_id IS NOT NULL;
-- A page of those that stand, however many were resolved.
CREATE INDEX sync_issues_unresolved ON sync_issues (integration_id, sync_id, kind, issue) WHERE resolved_at IS NULL;

-- What was answered to a request that changed something, by its Idempotency-Key. Stands exactly when the change does.
CREATE TABLE idempotency_keys (
    integration_id uuid NOT NULL,
    key            text COLLATE "C" NOT NULL,
    -- What the request asked for: with the same key it must be the same.
    request_hash   bytea NOT NULL CHECK (octet_length(request_hash) = 32),
    response       bytea NOT NULL,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (integration_id, key)
);
-- The answer is compressed before it is written, or not at all: it is read whole or never.
ALTER TABLE idempotency_keys ALTER COLUMN response SET STORAGE EXTERNAL;
-- Forgetting old answers.
CREATE INDEX idempotency_keys_by_creation ON idempotency_keys (created_at);
