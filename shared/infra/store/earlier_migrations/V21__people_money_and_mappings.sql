-- What the console adds: links that set a password, top-ups that a team has asked for, fields that the owner has mapped,
-- and indexes for what people look up.

-- A link that lets one person choose a password, once: who gets a new one loses the one before.
CREATE TABLE password_links (
    user_id    uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- The token itself is only in the link.
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Money that a team says it will send. Nothing is in the ledger before the operator has booked it.
--
--   open ──a top-up with the reference is booked──▶ booked
--     └──the team has changed its mind──▶ withdrawn
CREATE TABLE top_up_requests (
    team_id      uuid NOT NULL REFERENCES teams,
    request_id   uuid NOT NULL,
    amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    -- What the team writes on its payment, and the operator books it with.
    reference    text NOT NULL UNIQUE,
    state        text NOT NULL CHECK (state IN ('open', 'booked', 'withdrawn')),
    -- Who asked, by the name at that time.
    user_name    text NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, request_id)
);
CREATE INDEX top_up_requests_open ON top_up_requests (request_id) WHERE state = 'open';

-- Few among many charges.
CREATE INDEX ledger_top_ups ON ledger_transactions (team_id, transaction_id) WHERE kind = 'top_up';

-- A field whose column the owner has chosen (or that it fills none) keeps that choice, whatever a client declares later.
ALTER TABLE integration_fields ADD COLUMN is_mapped_by_owner boolean NOT NULL DEFAULT false;

-- The removal that can be taken back is the last one among many syncs.
CREATE INDEX syncs_removing ON syncs (integration_id, sync_id) WHERE status = 'completed' AND marked_removed > 0;

CREATE INDEX activities_by_person ON activities (team_id, user_id, activity_id);
CREATE INDEX activities_by_kind ON activities (team_id, split_part(action, '.', 1), activity_id);
