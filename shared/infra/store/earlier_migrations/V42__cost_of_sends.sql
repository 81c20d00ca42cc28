-- What a finished request has cost, for its sender: the gateway, which tells it, may not look into money.
ALTER TABLE sends ADD COLUMN cost_cents bigint CHECK (cost_cents >= 0);
