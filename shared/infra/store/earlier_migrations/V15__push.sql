-- The request that declared a field first. A worker that dies between its commit and its reply leaves the
-- request to another one, which counts these fields as added too and so gives the same answer.
ALTER TABLE integration_fields ADD COLUMN added_by uuid;

-- The fingerprint of the values that the last upsert wrote. A record with the same ones changes nothing, and is
-- known by these 16 bytes without reading or parsing any values. NULL is like none.
ALTER TABLE contacts ADD COLUMN fingerprint uuid;
