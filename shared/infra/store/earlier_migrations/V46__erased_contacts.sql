-- A removed contact loses its values, and keeps its key, its number and its times: at once when its client deleted it, later when a
-- full sync missed it, whose removal can be taken back until then. The syncer erases what is left, in portions.
ALTER TABLE contacts
    -- The removal whose values are erased: its removed_at. A contact that came back since and is removed again has another one.
    ADD COLUMN erased_at timestamptz;

-- What is to be erased: first what was deleted without it, by syncers of an earlier version; then what was missed, in the order of
-- removals. None of its columns changes with a contact's values, so that an update of these touches no index.
CREATE INDEX contacts_to_erase ON contacts ((CASE WHEN removed_in IS NULL THEN '-infinity'::timestamptz ELSE removed_at END))
    WHERE removed_at IS NOT NULL AND erased_at IS DISTINCT FROM removed_at;
