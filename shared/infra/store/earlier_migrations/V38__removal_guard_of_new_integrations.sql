-- The guard stops a removal of more than its share, if that is at least so many contacts. New integrations get 20 % and 25
-- contacts; those that stand keep what they have.
ALTER TABLE integrations
    ADD COLUMN removal_guard_minimum integer NOT NULL DEFAULT 0 CHECK (removal_guard_minimum >= 0);
