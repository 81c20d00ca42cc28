-- A secret on its way to the one page that shows it: encrypted, with a key that only the browser has, deleted when it is
-- shown, worth nothing after some minutes.
CREATE TABLE shown_once (
    token_hash bytea PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    sealed bytea NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX shown_once_by_end ON shown_once (expires_at);

-- Where people have signed in from, as a hash: somebody who guesses at an account from elsewhere does not lock these out.
CREATE TABLE sign_in_sources (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    source bytea NOT NULL,
    signed_in_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, source)
);

-- What a replay sends again: what has failed, and what was cancelled after a failed attempt.
CREATE INDEX deliveries_replayable ON deliveries (team_id, endpoint_id, created_at)
    WHERE state = 'failed' OR (state = 'cancelled' AND attempts > 0);
DROP INDEX deliveries_failed;
