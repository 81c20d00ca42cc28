#!/usr/bin/env bash
# The users of the processes with their passwords, in the container of postgres: GATEWAY_DATABASE_PASSWORD is that of user
# gateway, and so on. Run again, it sets the passwords anew.
set -euo pipefail

for process in gateway mailer syncer dispatcher console; do
    variable=${process^^}_DATABASE_PASSWORD
    [[ -n ${!variable:-} ]] || { echo "$variable is not set" >&2; exit 1; }
done

# psql reads the passwords from the environment, so that no list of processes shows them.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'END'
\i /users/users.sql
\getenv gateway GATEWAY_DATABASE_PASSWORD
\getenv mailer MAILER_DATABASE_PASSWORD
\getenv syncer SYNCER_DATABASE_PASSWORD
\getenv dispatcher DISPATCHER_DATABASE_PASSWORD
\getenv console CONSOLE_DATABASE_PASSWORD
ALTER ROLE gateway PASSWORD :'gateway';
ALTER ROLE mailer PASSWORD :'mailer';
ALTER ROLE syncer PASSWORD :'syncer';
ALTER ROLE dispatcher PASSWORD :'dispatcher';
ALTER ROLE console PASSWORD :'console';
END
