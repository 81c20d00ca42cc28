-- A campaign that a member is still setting up, and one that is put away. Neither is active, so programs that know neither word
-- refuse their requests as those of a paused one.
ALTER TABLE campaigns
    DROP CONSTRAINT campaigns_status_check,
    -- "draft": never launched; its steps may be incomplete. Rows from before are the other two, so nothing has to be read.
    ADD CONSTRAINT campaigns_status_check CHECK (status IN ('draft', 'active', 'paused')) NOT VALID,
    -- Put away: out of lists, and active only after it was restored.
    ADD COLUMN archived_at timestamptz,
    ADD CONSTRAINT campaigns_archived_check CHECK (archived_at IS NULL OR status <> 'active') NOT VALID;
