-- What one process does for all the others: it holds the duty until it has been silent for the length of a lease. Unlogged:
-- after a crash of the database somebody takes each duty anew.
CREATE UNLOGGED TABLE duties (
    duty         text PRIMARY KEY,
    holder       uuid NOT NULL,
    leased_until timestamptz NOT NULL
) WITH (fillfactor = 50);
