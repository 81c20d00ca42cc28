-- Rows for every table, by one rule for each type, with the columns named below as they are in a busy installation. The same
-- in every run: numbers are hashes of the row's number, times are fixed, and tables are small enough for ANALYZE to read them whole.
-- What plans do not depend on (checks, references, triggers) is gone, as all of it is after the test.
SET LOCAL session_replication_role = replica;
SELECT scan_partitions_make('2031-05-01', 4), scan_partitions_drop('2031-05-01');

CREATE TEMPORARY TABLE special (name text PRIMARY KEY, value text NOT NULL) ON COMMIT DROP;
INSERT INTO special VALUES
    -- Of all tables. Two hundred teams with five campaigns and an integration or endpoint each.
    ('team_id', 'uuid_of(''team'', pick(g, 200))'),
    ('campaign_id', '''campaign '' || pick(g, 200) * 5 + pick(-g, 5)'),
    ('integration_id', 'uuid_of(''integration'', pick(g, 200))'),
    ('endpoint_id', 'uuid_of(''endpoint'', pick(g, 200))'),
    ('member_id', 'uuid_of(''member'', pick(g, 600))'),
    ('design_id', 'uuid_of(''design'', pick(g, 1000))'),
    ('sync_id', 'uuid_of(''sync'', pick(g, 4000))'),
    ('charge_id', 'uuid_of(''charge'', pick(g, 1000))'),
    ('print_run_id', 'CASE WHEN pick(g, 10) > 0 THEN uuid_of(''run'', pick(g, 100)) END'),
    ('withheld', 'CASE pick(g, 2000) WHEN 0 THEN ''held'' WHEN 1 THEN ''unwanted'' WHEN 2 THEN ''cancelled'' END'),
    ('print_problem', 'CASE WHEN pick(g, 2000) = 0 THEN ''a picture is gone'' END'),
    ('name_key', '''column '' || pick(g, 1000)'),
    ('zip', '(10000 + pick(g, 5000))'),
    ('day', 'date ''2026-01-01'' + pick(-g, 400)'),
    ('step', '1 + pick(g, 3)'),
    ('removed_at', 'CASE WHEN pick(g, 20) = 0 THEN at_of(g) END'),
    ('erased_at', 'CASE WHEN pick(g, 40) = 0 THEN at_of(g) END'),
    ('revoked_at', 'CASE WHEN pick(g, 4) = 0 THEN at_of(g) END'),
    ('resolved_at', 'CASE WHEN pick(g, 2) = 0 THEN at_of(g) END'),
    ('lease_id', 'CASE WHEN pick(g, 100) = 0 THEN uuid_of(''lease'', g) END'),
    ('leased_until', 'CASE WHEN pick(g, 100) = 0 THEN at_of(g) END'),
    -- Of one table. What is under way is a hundredth of what was.
    ('address_streets.name_key', 'pick(g, 1000)'),
    ('teams.team_id', 'uuid_of(''team'', g)'),
    ('mailpiece_followers.team_id', 'uuid_of(''team'', g)'),
    ('password_links.member_id', 'uuid_of(''member'', g)'),
    ('campaigns.team_id', 'uuid_of(''team'', g / 5)'),
    ('integrations.team_id', 'uuid_of(''team'', g / 5)'),
    ('endpoints.team_id', 'uuid_of(''team'', g / 5)'),
    ('members.team_id', 'uuid_of(''team'', g / 5)'),
    ('designs.team_id', 'uuid_of(''team'', g / 5)'),
    ('api_keys.team_id', 'uuid_of(''team'', g / 5)'),
    ('campaigns.campaign_id', '''campaign '' || g'),
    ('integrations.integration_id', 'uuid_of(''integration'', g)'),
    ('endpoints.endpoint_id', 'uuid_of(''endpoint'', g)'),
    ('members.member_id', 'uuid_of(''member'', g)'),
    ('designs.design_id', 'uuid_of(''design'', g)'),
    ('charges.charge_id', 'uuid_of(''charge'', g)'),
    ('syncs.sync_id', 'uuid_of(''sync'', g)'),
    ('sends.lease_id', 'uuid_of(''lease'', g)'),
    ('sends.leased_until', 'at_of(g)'),
    ('sends.state', 'CASE pick(g, 100) WHEN 0 THEN ''claimed'' WHEN 1 THEN ''reserved'' ELSE ''finished'' END'),
    ('charges.state', 'CASE pick(g, 100) WHEN 0 THEN ''reserved'' WHEN 1 THEN ''declined'' ELSE ''settled'' END'),
    ('print_runs.state', 'CASE pick(g, 100) WHEN 0 THEN ''claimed'' ELSE ''printed'' END'),
    ('recipients.status', 'CASE WHEN pick(g, 5) > 0 THEN ''mailed'' ELSE ''not_mailed'' END'),
    ('recipients.reason', 'CASE WHEN pick(g, 5) > 0 THEN NULL WHEN pick(-g, 2) = 0 THEN ''filtered_conditions'' ELSE ''duplicate'' END'),
    ('scans.scan_id', 'overlay(uuid_of(''scan'', g)::text PLACING left(first_id_of(''2031-05-01''::timestamptz + (g - 2000) * interval ''25 minutes'')::text, 13) FROM 1)::uuid'),
    ('scans.visitor', 'CASE WHEN pick(g, 5) > 0 THEN ''person'' ELSE ''program'' END'),
    ('feeds.team_id', 'uuid_of(''team'', g)'),
    ('feeds.feed', '''scans'''),
    ('feed_batches.feed', '''scans'''),
    ('feed_batches.position', 'CASE WHEN pick(g, 100) > 0 THEN g END'),
    ('endpoints.state', 'CASE WHEN pick(g, 5) > 0 THEN ''active'' ELSE ''deleted'' END'),
    ('deliveries.state', 'CASE pick(g, 100) WHEN 0 THEN ''waiting'' WHEN 1 THEN ''failed'' ELSE ''delivered'' END'),
    ('emails.sent_at', 'CASE WHEN pick(g, 100) > 0 THEN at_of(g) END'),
    ('ai_cells.state', 'CASE pick(g, 100) WHEN 0 THEN ''waiting'' ELSE ''written'' END'),
    ('jobs.kind', 'CASE WHEN pick(g, 3) = 0 THEN ''recheck'' ELSE ''step'' END'),
    ('address_columns.queued_up_to', 'NULL'),
    ('syncs.status', 'CASE pick(g, 100) WHEN 0 THEN ''open'' ELSE ''completed'' END'),
    ('syncs.mode', 'CASE pick(g, 2) WHEN 0 THEN ''full'' ELSE ''delta'' END'),
    ('syncs.is_purged', 'pick(g, 50) > 0'),
    ('members.is_claimed', 'true'),
    ('integrations.first_completed_at', 'at_of(g)'),
    ('ledger_entries.account', '(ARRAY[''balance'', ''sales'', ''receivable''])[1 + pick(g, 3)]'),
    ('ledger_accounts.team_id', 'uuid_of(''team'', g)'),
    ('ledger_accounts.account', '(ARRAY[''balance'', ''sales'', ''receivable''])[1 + pick(g, 3)]'),
    ('ledger_transactions.kind', 'CASE pick(g, 10) WHEN 0 THEN ''top_up'' ELSE ''charge'' END'),
    ('top_up_requests.state', 'CASE pick(g, 10) WHEN 0 THEN ''open'' ELSE ''booked'' END');

CREATE FUNCTION pick(g integer, choices integer) RETURNS integer LANGUAGE sql IMMUTABLE AS
    $$ SELECT abs(hashint4(g) % choices) $$;
CREATE FUNCTION uuid_of(kind text, number integer) RETURNS uuid LANGUAGE sql IMMUTABLE AS
    $$ SELECT md5(kind || number)::uuid $$;
CREATE FUNCTION at_of(g integer) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
    $$ SELECT timestamptz '2026-01-01Z' + g * interval '10 minutes' $$;

DO $$
DECLARE
    rows   constant integer := 10000;
    -- A real row stands for so many: the planner takes the rows of a page, as ANALYZE has found them, times the pages there are.
    stands constant integer := 100;
    seeded record;
    dropped record;
BEGIN
    FOR dropped IN
        SELECT conrelid::regclass AS relation, conname FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace AND contype = 'c' AND conislocal AND coninhcount = 0
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', dropped.relation, dropped.conname);
    END LOOP;
    FOR seeded IN
        SELECT relation.oid::regclass AS name, string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns,
            string_agg(format(CASE WHEN attnotnull THEN 'coalesce((%1$s)::%3$s, %2$s)' ELSE '(%1$s)::%3$s' END,
                coalesce(one.value, every.value, plain), plain, type), ', ' ORDER BY attnum) AS values
        FROM pg_class relation JOIN pg_attribute ON attrelid = relation.oid
        CROSS JOIN LATERAL format_type(atttypid, atttypmod) AS type
        CROSS JOIN LATERAL (SELECT CASE
            WHEN type = 'uuid' THEN format('uuid_of(%L, g)', attname)
            WHEN type LIKE '%[]' THEN '''{}'''
            WHEN type = 'text' THEN format('%L || g', attname || ' ')
            WHEN type = 'bytea' THEN format('decode(md5(%L || g), ''hex'')', attname)
            WHEN type = 'jsonb' THEN '''{}'''
            WHEN type = 'boolean' THEN 'pick(g, 2) = 0'
            WHEN type = 'date' THEN 'at_of(g)::date'
            WHEN type = 'timestamp with time zone' THEN 'at_of(g)'
            WHEN type = 'smallint' THEN '1 + pick(g, 100)'
            ELSE 'g' END AS plain) plain_value
        LEFT JOIN special one ON one.name = relname || '.' || attname
        LEFT JOIN special every ON every.name = attname
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
            AND relname NOT LIKE 'refinery%' AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        GROUP BY relation.oid ORDER BY relname
    LOOP
        EXECUTE format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM generate_series(1, %s) g ON CONFLICT DO NOTHING',
            seeded.name, seeded.columns, seeded.values, rows);
        EXECUTE format('ANALYZE %s', seeded.name);
    END LOOP;
    UPDATE pg_class SET reltuples = reltuples * stands
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'i') AND reltuples > 0;
    -- As VACUUM leaves it.
    UPDATE pg_class SET relallvisible = relpages
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r';
END $$;
