-- People at work: who is signed in to the console, and what was done there.

-- A session is found by its token's hash; the token itself is only in its holder's cookie.
CREATE TABLE sessions (
    token_hash   bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    user_id      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at   timestamptz NOT NULL,
    -- Written once a minute at the most, so that looking at pages costs no writes.
    last_seen_at timestamptz NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_age ON sessions (created_at);

-- Who did what: written in the transaction that did it. Ids are UUIDs of version 7, so the key is in order of time.
CREATE TABLE activities (
    team_id     uuid NOT NULL REFERENCES teams,
    activity_id uuid NOT NULL,
    happened_at timestamptz NOT NULL,
    -- NULL when the person has left the team; the name stays.
    user_id     uuid REFERENCES users ON DELETE SET NULL,
    user_name   text NOT NULL,
    -- As in "key.revoked": noun and past participle.
    action      text NOT NULL CHECK (action ~ '^[a-z_]+\.[a-z_]+$'),
    -- What it was done to, as people call it.
    subject     text NOT NULL,
    PRIMARY KEY (team_id, activity_id)
);
