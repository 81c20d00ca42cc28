-- Everything that the database knows of our schema, a line for each thing: two schemas with the same lines are the same.
WITH ours AS (
    SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace
)
SELECT format('relation %s kind %s persistence %s options %s method %s partition %s of %s key %s replica %s privileges %s owner %s',
    relname, relkind, relpersistence, reloptions, (SELECT amname FROM pg_am WHERE pg_am.oid = relam),
    pg_get_expr(relpartbound, oid), (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = pg_class.oid),
    pg_get_partkeydef(oid), relreplident, relacl, relowner::regrole) AS line
FROM pg_class JOIN ours USING (oid)
UNION ALL
SELECT format('column %s.%s %s type %s required %s default %s generated %s identity %s storage %s compression %s collation %s statistics %s options %s dropped %s privileges %s',
    attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), attgenerated,
    attidentity, attstorage, attcompression, attcollation::regcollation, attstattarget, attoptions, attisdropped, attacl)
FROM pg_attribute JOIN ours ON ours.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attnum > 0
UNION ALL
SELECT format('constraint %s.%s %s validated %s deferrable %s local %s inherited %s', conrelid::regclass, conname,
    pg_get_constraintdef(pg_constraint.oid), convalidated, condeferrable, conislocal, coninhcount)
FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
UNION ALL
SELECT format('index %s valid %s replica %s clustered %s', pg_get_indexdef(indexrelid), indisvalid, indisreplident, indisclustered)
FROM pg_index JOIN ours ON ours.oid = indexrelid
UNION ALL
SELECT format('trigger %s enabled %s', pg_get_triggerdef(pg_trigger.oid), tgenabled)
FROM pg_trigger JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal
UNION ALL
SELECT format('function %s privileges %s owner %s', pg_get_functiondef(oid), proacl, proowner::regrole)
FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
UNION ALL
SELECT format('sequence %s type %s start %s step %s from %s to %s cache %s cycle %s of %s.%s', seqrelid::regclass,
    seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle, refobjid::regclass, refobjsubid)
FROM pg_sequence JOIN ours ON ours.oid = seqrelid
LEFT JOIN pg_depend ON objid = seqrelid AND classid = 'pg_class'::regclass AND deptype IN ('a', 'i') AND refobjsubid > 0
UNION ALL
SELECT format('view %s %s', viewname, definition) FROM pg_views WHERE schemaname = current_schema()
UNION ALL
SELECT format('materialized view %s %s', matviewname, definition) FROM pg_matviews WHERE schemaname = current_schema()
UNION ALL
SELECT format('rule %s %s', tablename, definition) FROM pg_rules WHERE schemaname = current_schema()
UNION ALL
SELECT format('policy %s', pg_policies) FROM pg_policies WHERE schemaname = current_schema()
UNION ALL
SELECT format('type %s kind %s', typname, typtype) FROM pg_type
WHERE typnamespace = current_schema()::regnamespace AND typtype IN ('d', 'e', 'm', 'r')
UNION ALL
SELECT format('statistics %s', pg_get_statisticsobjdef(oid)) FROM pg_statistic_ext
WHERE stxnamespace = current_schema()::regnamespace
UNION ALL
SELECT format('comment on %s: %s', pg_describe_object(classoid, objoid, objsubid), description)
FROM pg_description JOIN ours ON ours.oid = objoid
UNION ALL
SELECT format('comment on %s: %s', pg_describe_object(classoid, objoid, objsubid), description)
FROM pg_description JOIN pg_proc ON pg_proc.oid = objoid AND pronamespace = current_schema()::regnamespace
UNION ALL
SELECT format('schema privileges %s', nspacl) FROM pg_namespace WHERE nspname = current_schema()
UNION ALL
SELECT format('database privileges %s', datacl) FROM pg_database WHERE datname = current_database()
UNION ALL
SELECT format('default privileges %s %s', defaclobjtype, defaclacl) FROM pg_default_acl
UNION ALL
SELECT format('extension %s %s', extname, extversion) FROM pg_extension
UNION ALL
SELECT format('migration %s %s %s', version, name, checksum) FROM refinery_schema_history
