-- A complete that the removal guard refused is noted in its sync, outside of the refusal's own transaction, which is rolled
-- back. It counts while the sync is open.
ALTER TABLE syncs
    ADD COLUMN held_back_at    timestamptz,
    -- Contacts that it would have removed, and their share of all, 0 to 1.
    ADD COLUMN held_back_count bigint,
    ADD COLUMN held_back_share double precision,
    ADD CONSTRAINT syncs_held_back CHECK (num_nulls(held_back_at, held_back_count, held_back_share) IN (0, 3));
