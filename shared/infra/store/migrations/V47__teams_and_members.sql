-- Teams, their members and keys.
--
-- The schema as a document, in reading order: this file and those that follow it. Every table says what a row is,
-- every column its unit and meaning where its name does not say it all. What holds everywhere:
--
--   * A time is a timestamptz from the program's clock, never from the database's. A date is a day of the team's time
--     zone unless it says UTC.
--   * Money is in cents, US dollars.
--   * Ids of rows are UUIDs of version 7, which are in the order of time, unless the column says what they are derived
--     from. Leases have random ids.
--   * A table that grows with what a team does has the team or the integration first in its key.
--   * States are text with a CHECK and no enums: a new state is one changed constraint.
--   * Many references are not foreign keys: rows are written by the thousand and deleted by age, and every foreign key
--     would cost a look-up for each. `pillarbox check` proves what the keys would have enforced.
--   * Columns stand in the order in which they were added.

-- A customer of the service.
CREATE TABLE teams (
    team_id               uuid PRIMARY KEY,
    -- What the operator's command line knows it by.
    name                  text NOT NULL UNIQUE,
    -- IANA name. Rules by the day use it: mail-by dates, the daily re-check, limits by the day.
    time_zone             text NOT NULL DEFAULT 'America/New_York',
    -- How the team pays: from its prepaid balance, or by the payment card that the provider keeps.
    payment               text NOT NULL DEFAULT 'balance' CHECK (payment IN ('balance', 'stripe')),
    -- The provider's ids of the customer and of its payment card.
    stripe_customer       text,
    stripe_payment_method text,
    created_at            timestamptz NOT NULL,
    -- Whether Idempotency-Key on sends is honoured. The contract reads none, so a team has to switch it on.
    honours_idempotency_keys boolean NOT NULL DEFAULT false,
    -- Whether a Formulas only key sees the people of the address book as they are in a preview; without it their
    -- texts are masked.
    formula_keys_see_people boolean NOT NULL DEFAULT false,
    -- Nobody pays by a card that is not there.
    CHECK (payment <> 'stripe' OR (stripe_customer IS NOT NULL AND stripe_payment_method IS NOT NULL))
);

-- A member: somebody of a team who signs in to the console. An e-mail address belongs to one account once somebody has
-- chosen its password. Until then several teams may have added it: who adds somebody is not told whether the address
-- has an account elsewhere.
--
--   added ──chooses a password──▶ claimed (and stays so, also while the password is reset)
CREATE TABLE users (
    user_id       uuid PRIMARY KEY,
    team_id       uuid NOT NULL REFERENCES teams,
    -- Lower case.
    email         text NOT NULL,
    name          text NOT NULL,
    role          text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    -- Argon2id in PHC form; NULL until a password is set.
    password_hash text,
    created_at    timestamptz NOT NULL,
    is_claimed    boolean NOT NULL DEFAULT false,
    CONSTRAINT users_claimed_with_password CHECK (is_claimed OR password_hash IS NULL),
    -- A team adds an address once.
    UNIQUE (team_id, email)
);
-- The page about a team's members.
CREATE INDEX users_by_team ON users (team_id);
-- One claimed account for each address: decides between two who choose a password at the same time.
CREATE UNIQUE INDEX users_by_claimed_email ON users (email) WHERE is_claimed;
-- Signing in knows the address alone.
CREATE INDEX users_by_email ON users (email);

-- A session of the console. It is found by its token's hash; the token itself is only in its holder's cookie.
CREATE TABLE sessions (
    -- SHA-256.
    token_hash   bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    user_id      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at   timestamptz NOT NULL,
    -- Written once a minute at the most, so that looking at pages costs no writes.
    last_seen_at timestamptz NOT NULL
);
-- Ending all sessions of a member.
CREATE INDEX sessions_by_user ON sessions (user_id);
-- Forgetting old ones.
CREATE INDEX sessions_by_age ON sessions (created_at);

-- A link that lets one member choose a password, once. Whoever gets a new link loses the one before.
CREATE TABLE password_links (
    user_id    uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- SHA-256; the token itself is only in the link.
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

-- A secret on its way to the one page that shows it: encrypted with a key that only the browser has, deleted when it is
-- shown, worth nothing after some minutes.
CREATE TABLE shown_once (
    -- Hash of the token that opens it.
    token_hash bytea PRIMARY KEY,
    user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    -- The secret, encrypted.
    sealed     bytea NOT NULL,
    expires_at timestamptz NOT NULL
);
-- Forgetting what nobody asked for.
CREATE INDEX shown_once_by_end ON shown_once (expires_at);

-- Where a member has signed in from, the last few places. Somebody who guesses at an account from elsewhere does not
-- lock its member out.
CREATE TABLE sign_in_sources (
    user_id      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    -- Hash of the place.
    source       bytea NOT NULL,
    -- The last time.
    signed_in_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, source)
);

-- The activity log of a team: who did what, written in the transaction that did it. Pages follow the key, which is in
-- the order of time.
CREATE TABLE activities (
    team_id     uuid NOT NULL REFERENCES teams,
    activity_id uuid NOT NULL,
    happened_at timestamptz NOT NULL,
    -- NULL when the member has left the team; the name stays.
    user_id     uuid REFERENCES users ON DELETE SET NULL,
    user_name   text NOT NULL,
    -- As in "key.revoked": noun and past participle.
    action      text NOT NULL CHECK (action ~ '^[a-z_]+\.[a-z_]+$'),
    -- What it was done to, as people call it.
    subject     text NOT NULL,
    PRIMARY KEY (team_id, activity_id)
);
-- The log's filters: by member, and by the noun of the action.
CREATE INDEX activities_by_person ON activities (team_id, user_id, activity_id);
CREATE INDEX activities_by_kind ON activities (team_id, split_part(action, '.', 1), activity_id);

-- A key to one of the APIs. Only its hash is kept, and its ends for people to tell keys apart. A revoked key stays, for
-- the log and so that its use is answered 401.
CREATE TABLE api_keys (
    key_id         uuid PRIMARY KEY,
    team_id        uuid NOT NULL REFERENCES teams,
    kind           text NOT NULL CHECK (kind IN ('full_access', 'integration', 'formulas')),
    -- The integration whose contacts an integration key pushes; the reference is declared with that table.
    integration_id uuid,
    name           text NOT NULL,
    -- SHA-256.
    hash           bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    -- Its ends.
    display        text NOT NULL,
    created_at     timestamptz NOT NULL,
    revoked_at     timestamptz,
    CHECK ((kind = 'integration') = (integration_id IS NOT NULL))
);
CREATE INDEX api_keys_by_team ON api_keys (team_id);

-- Requests counted by subject and minute. Unlogged: a crash of the database forgets the current minute, which costs
-- nobody anything, and no request pays for a write-ahead record.
CREATE UNLOGGED TABLE rate_windows (
    -- Who is counted: a key, an address of the network, an account that somebody guesses at.
    subject      bytea NOT NULL,
    window_start timestamptz NOT NULL,
    requests     integer NOT NULL,
    PRIMARY KEY (subject, window_start)
-- Room for a changed count beside its old version, so that no index is touched.
) WITH (fillfactor = 70);
-- Forgetting windows that are over.
CREATE INDEX rate_windows_by_start ON rate_windows (window_start);

-- What one process does for all the others: it holds the duty until it has been silent for the length of a lease.
-- Unlogged: after a crash of the database somebody takes each duty anew.
CREATE UNLOGGED TABLE duties (
    duty         text PRIMARY KEY,
    -- The process, by an id that it makes when it starts.
    holder       uuid NOT NULL,
    leased_until timestamptz NOT NULL
-- Every lease is renewed in its place.
) WITH (fillfactor = 50);
