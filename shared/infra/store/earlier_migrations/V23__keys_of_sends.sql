-- The keys that senders give their requests ("Idempotency-Key"). A key names the send whose response is the answer to
-- every request with that key. One whose send is gone is free: the send failed as a whole, or its time is over.
CREATE TABLE send_keys (
    team_id      uuid NOT NULL,
    key          text NOT NULL,
    -- What the request asked for: with the same key it must be the same.
    request_hash bytea NOT NULL,
    send_id      uuid NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, key)
);
CREATE INDEX send_keys_by_creation ON send_keys (created_at);
