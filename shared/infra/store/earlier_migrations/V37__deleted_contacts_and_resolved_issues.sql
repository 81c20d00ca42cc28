-- What the client deletes is erased: of a deleted contact its key, its number and its times stay, and no value. One that a
-- full sync missed keeps its values, since its owner can take that removal back.
UPDATE contacts SET fields = '{}', fingerprint = NULL
WHERE removed_at IS NOT NULL AND removed_in IS NULL AND fields <> '{}';

-- When a later batch of the same sync accepted what an issue was about; NULL while the issue stands. What was resolved before
-- this column came shows as standing.
ALTER TABLE sync_issues ADD COLUMN resolved_at timestamptz;
-- A page of those that stand, however many were resolved.
CREATE INDEX sync_issues_unresolved ON sync_issues (integration_id, sync_id, kind, issue) WHERE resolved_at IS NULL;
