-- A card may print after the last day on which it was to mail: its serial number is kept from coming again from the later day on.

ALTER TABLE print_runs
    -- The first day on which its serial numbers may come again. For runs from before the mail-by date was kept, a week after the
    -- run stands in for it.
    ADD COLUMN serials_free_on date GENERATED ALWAYS AS (45 + greatest(
        coalesce(last_mail_by_date, (created_at AT TIME ZONE 'UTC')::date + 7),
        (created_at AT TIME ZONE 'UTC')::date,
        (printed_at AT TIME ZONE 'UTC')::date)) STORED;

-- From here the runs that still count are read, and not all that a mailer ever had.
DROP INDEX print_runs_by_mailer;
CREATE INDEX print_runs_by_mailer ON print_runs (mailer_id, serials_free_on, first_serial) WHERE mailer_id IS NOT NULL;

CREATE OR REPLACE FUNCTION print_serials_used(today date)
RETURNS TABLE (mailer_id text, serials bigint, used bigint, free_on date)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    -- Fifteen digits, less those of the mailer id.
    SELECT stored.mailer_id, (10 ^ (15 - length(stored.mailer_id)))::bigint,
        coalesce(stored.next_serial - oldest.first_serial, 0), oldest.serials_free_on
    FROM print_serials stored LEFT JOIN LATERAL (
        SELECT run.first_serial, run.serials_free_on FROM print_runs run
        WHERE run.mailer_id = stored.mailer_id AND run.serials_free_on > today
        ORDER BY run.first_serial LIMIT 1) oldest ON true
$$;
