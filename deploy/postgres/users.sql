-- A user for each process, in the group that holds its privileges; `pillarbox migrate` grants these to the groups. Run it
-- before, as a superuser or another role that may make roles. Run again, it changes nothing. Passwords, where there are any, are
-- set after it (users.sh).
DO $$
DECLARE
    process text;
    command text;
BEGIN
    FOREACH process IN ARRAY ARRAY['gateway', 'mailer', 'syncer', 'dispatcher', 'console'] LOOP
        FOREACH command IN ARRAY ARRAY[
            format('CREATE ROLE %I NOLOGIN', 'pillarbox_' || process),
            format('CREATE ROLE %I LOGIN IN ROLE %I', process, 'pillarbox_' || process)]
        LOOP
            BEGIN
                EXECUTE command;
            EXCEPTION
                -- It is there, or somebody made it at the same time.
                WHEN duplicate_object OR unique_violation THEN NULL;
            END;
        END LOOP;
    END LOOP;
END $$;
