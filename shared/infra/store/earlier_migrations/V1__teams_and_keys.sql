-- Teams, the people in them and the keys they hold.

CREATE TABLE teams (
    team_id     uuid PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    -- IANA name; "day" rules (mail-by date, re-check, limits by the day) use it.
    time_zone   text NOT NULL DEFAULT 'America/New_York',
    -- How the team pays: from its prepaid balance, or by the card that the provider keeps.
    payment     text NOT NULL DEFAULT 'balance' CHECK (payment IN ('balance', 'stripe')),
    stripe_customer       text,
    stripe_payment_method text,
    created_at  timestamptz NOT NULL,
    CHECK (payment <> 'stripe' OR (stripe_customer IS NOT NULL AND stripe_payment_method IS NOT NULL))
);

CREATE TABLE users (
    user_id       uuid PRIMARY KEY,
    team_id       uuid NOT NULL REFERENCES teams,
    -- Lower-case. One account per address, whatever the team.
    email         text NOT NULL UNIQUE,
    name          text NOT NULL,
    role          text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    -- Argon2id in PHC form; NULL until a password is set.
    password_hash text,
    created_at    timestamptz NOT NULL
);
CREATE INDEX users_by_team ON users (team_id);

-- Only the SHA-256 of a key is kept, and its ends for people to tell keys apart.
CREATE TABLE api_keys (
    key_id         uuid PRIMARY KEY,
    team_id        uuid NOT NULL REFERENCES teams,
    kind           text NOT NULL CHECK (kind IN ('full_access', 'integration', 'formulas')),
    integration_id uuid,
    name           text NOT NULL,
    hash           bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    display        text NOT NULL,
    created_at     timestamptz NOT NULL,
    revoked_at     timestamptz,
    CHECK ((kind = 'integration') = (integration_id IS NOT NULL))
);
CREATE INDEX api_keys_by_team ON api_keys (team_id);

-- Requests counted per subject and minute. Unlogged: a crash of the database forgets the current
-- minute, which costs nobody anything, and no request pays for a write-ahead record.
CREATE UNLOGGED TABLE rate_windows (
    subject      bytea NOT NULL,
    window_start timestamptz NOT NULL,
    requests     integer NOT NULL,
    PRIMARY KEY (subject, window_start)
) WITH (fillfactor = 70);
CREATE INDEX rate_windows_by_start ON rate_windows (window_start);
