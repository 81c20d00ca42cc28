-- An integration that its team has removed opens for nobody, and its contacts count no more; the syncer erases them later.
--
--   standing ──remove──▶ removed ──a setting, 30 days──▶ erased (its row and revoked keys stay, for the log and for 401)
ALTER TABLE integrations
    ADD COLUMN removed_at timestamptz,
    ADD COLUMN erased_at timestamptz,
    ADD CONSTRAINT integrations_erased_after_removal CHECK (erased_at IS NULL OR removed_at IS NOT NULL);

-- Who is removed gives the name back.
ALTER TABLE integrations DROP CONSTRAINT integrations_team_id_name_key;
CREATE UNIQUE INDEX integrations_by_name ON integrations (team_id, name) WHERE removed_at IS NULL;

-- What is to be erased, by when it was removed.
CREATE INDEX integrations_to_erase ON integrations (removed_at) WHERE removed_at IS NOT NULL AND erased_at IS NULL;

-- Erases contacts of an integration that was removed, so many at the most; returns how many. It runs as the owner of the
-- tables: the process that calls it may delete no contact otherwise.
CREATE FUNCTION contacts_erase(removed uuid, portion bigint) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    WITH erased AS (
        DELETE FROM contacts WHERE ctid = ANY (ARRAY(
            SELECT contacts.ctid FROM contacts JOIN integrations USING (integration_id)
            WHERE contacts.integration_id = removed AND integrations.removed_at IS NOT NULL
            -- In the order of the key, whose dead entries are passed over: no portion begins at the table's first page again.
            ORDER BY external_id LIMIT portion))
        RETURNING 1
    )
    SELECT count(*) FROM erased
$$;
