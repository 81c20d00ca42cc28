-- How often recipients were removed from the campaign or addresses put on its do-not-mail list. Whoever does so locks the
-- campaign's row with it; whoever makes cards finds under that lock whether what it has read of the lists still holds.
ALTER TABLE campaigns ADD COLUMN list_changes bigint NOT NULL DEFAULT 0;
