-- Serial numbers of barcodes: none comes again within 45 days of the last day on which its card was to mail.

ALTER TABLE print_runs
    -- Whose serial numbers the run has; NULL for a run without barcodes.
    ADD COLUMN mailer_id text,
    -- The latest mail-by date of its cards. NULL for runs from before it was kept; a week after the run stands in for it.
    ADD COLUMN last_mail_by_date date;
UPDATE print_runs SET mailer_id = settings ->> 'mailer_id' WHERE settings ->> 'mailer_id' IS NOT NULL;
CREATE INDEX print_runs_by_mailer ON print_runs (mailer_id, created_at) WHERE mailer_id IS NOT NULL;

-- Of each mailer id: how many serial numbers there are, how many of them, counted from the oldest that must not come again
-- yet, are used, and when that one is free. It runs as the owner of the tables: processes report it and read no run.
CREATE FUNCTION print_serials_used(today date)
RETURNS TABLE (mailer_id text, serials bigint, used bigint, free_on date)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    -- Fifteen digits, less those of the mailer id.
    SELECT stored.mailer_id, (10 ^ (15 - length(stored.mailer_id)))::bigint,
        coalesce(stored.next_serial - oldest.first_serial, 0), oldest.free_on
    FROM print_serials stored LEFT JOIN LATERAL (
        SELECT run.first_serial, coalesce(run.last_mail_by_date, run.created_at::date + 7) + 45 AS free_on
        FROM print_runs run
        WHERE run.mailer_id = stored.mailer_id
            AND coalesce(run.last_mail_by_date, run.created_at::date + 7) + 45 > today
        ORDER BY run.first_serial LIMIT 1) oldest ON true
$$;
