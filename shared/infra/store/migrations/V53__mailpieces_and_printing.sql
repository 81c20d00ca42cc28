-- Mailpieces, and the runs that print them.

-- A mailpiece. It prints when its charge is settled: settling is one row, not five thousand.
CREATE TABLE pieces (
    team_id         uuid NOT NULL,
    piece_id        uuid NOT NULL,
    campaign_id     text NOT NULL,
    step            smallint NOT NULL,
    charge_id       uuid NOT NULL,
    -- Whom it goes to.
    entry_id        uuid NOT NULL,
    address_id      uuid NOT NULL,
    first_name      text NOT NULL,
    last_name       text NOT NULL,
    -- The verified form, as it prints.
    line_1          text NOT NULL,
    line_2          text NOT NULL,
    city            text NOT NULL,
    state           text NOT NULL,
    zip             text NOT NULL,
    plus4           text,
    -- How far the address was verified.
    verification    text NOT NULL,
    -- What it prints with.
    design_id       uuid NOT NULL,
    design_version  integer NOT NULL,
    -- Format of the paper, as in "postcard_4x6".
    product         text NOT NULL,
    -- As in campaign_steps.
    postage         text NOT NULL,
    price_cents     bigint NOT NULL CHECK (price_cents >= 0),
    -- The day on which it is to mail at the latest.
    mail_by_date    date NOT NULL,
    created_at      timestamptz NOT NULL,
    -- Stands in the address of its QR codes and cannot be guessed; mailpieces made before codes existed have none.
    code            text CHECK (code ~ '^[0-9A-Za-z]{10}$'),
    -- Where its QR codes lead, in the order of the design (front, then back), with the recipient's fields filled in;
    -- none for a design without a QR code.
    destinations    text[] NOT NULL DEFAULT '{}',
    -- What verification changed, in words; '' for nothing.
    corrections     text NOT NULL DEFAULT '',
    -- Neighborhood Mail: the entry of the center that the home lies around.
    center_entry_id uuid,
    -- What it prints of its recipient, as decided when it was made: fields, return address, pictures.
    content         jsonb NOT NULL DEFAULT '{}',
    -- The run that prints it, and its place there, from 1. NULL is queued.
    print_run_id    uuid,
    print_position  integer CHECK (print_position > 0),
    -- Why it could not print. It waits until an operator tells it to try again.
    print_problem   text,
    -- As in address_entries.
    unit_apart      text NOT NULL DEFAULT '',
    PRIMARY KEY (team_id, piece_id),
    CHECK ((print_run_id IS NULL) = (print_position IS NULL)),
    CHECK (print_problem IS NULL OR print_run_id IS NULL)
);
-- The duplicate guard: was this address mailed for this campaign, and when? Mailpieces are made with the campaign's row
-- locked, so two requests cannot both find no answer.
CREATE INDEX pieces_by_address ON pieces (team_id, campaign_id, address_id, created_at);
-- Begins with the charge, so that it serves those who know it, and nobody else.
CREATE INDEX pieces_by_charge ON pieces (charge_id, team_id);
-- Unique over all teams: a phone that scans a mailpiece knows nothing but its code.
CREATE UNIQUE INDEX pieces_by_code ON pieces (code);
-- The queue: mailpieces come in, and leave when a run claims them.
CREATE INDEX pieces_queued ON pieces (product, mail_by_date) WHERE print_run_id IS NULL AND print_problem IS NULL;
-- The mailpieces of a run in their order.
CREATE UNIQUE INDEX pieces_by_print_run ON pieces (print_run_id, print_position) WHERE print_run_id IS NOT NULL;
-- What waits for an operator.
CREATE INDEX pieces_set_aside ON pieces (team_id, piece_id) WHERE print_problem IS NOT NULL;

-- A print run: mailpieces of one product, of all teams, that become one file.
--
--   claimed ──files kept──▶ printed
--
-- The mailpieces, their order and all else that the files are made from are fixed when the run is claimed: whoever takes
-- over a run whose printer died makes the same files under the same names.
CREATE TABLE print_runs (
    run_id            uuid PRIMARY KEY,
    product           text NOT NULL,
    state             text NOT NULL CHECK (state IN ('claimed', 'printed')),
    -- Mailpieces claimed. Those that could not print are set aside when the run ends.
    pieces            integer NOT NULL CHECK (pieces > 0),
    set_aside         integer NOT NULL DEFAULT 0 CHECK (set_aside BETWEEN 0 AND pieces),
    -- The settings at the moment of the claim that show on paper: the public address, the mailer id, the permit.
    settings          jsonb NOT NULL,
    -- The barcode's serial number of the first mailpiece; the others follow in their order.
    first_serial      bigint NOT NULL CHECK (first_serial >= 0),
    lease_id          uuid NOT NULL,
    leased_until      timestamptz NOT NULL,
    created_at        timestamptz NOT NULL,
    printed_at        timestamptz,
    -- Whose serial numbers the run has; NULL for a run without barcodes.
    mailer_id         text,
    -- The latest mail-by date of its mailpieces. NULL for runs from before it was kept.
    last_mail_by_date date,
    -- The first day, UTC, on which its serial numbers may come again: 45 days from the last day on which they can be in
    -- the mail. For runs without a mail-by date, a week after the run stands in for it.
    serials_free_on   date GENERATED ALWAYS AS (45 + greatest(
        coalesce(last_mail_by_date, (created_at AT TIME ZONE 'UTC')::date + 7),
        (created_at AT TIME ZONE 'UTC')::date,
        (printed_at AT TIME ZONE 'UTC')::date)) STORED,
    CHECK ((state = 'printed') = (printed_at IS NOT NULL))
);
-- What a printer that died has left.
CREATE INDEX print_runs_open ON print_runs (leased_until) WHERE state = 'claimed';
-- From here the runs whose serial numbers still count are read, and not all that a mailer ever had.
CREATE INDEX print_runs_by_mailer ON print_runs (mailer_id, serials_free_on, first_serial) WHERE mailer_id IS NOT NULL;

-- The next serial number of a mailer id, counted without end: a barcode carries its last digits.
CREATE TABLE print_serials (
    mailer_id   text PRIMARY KEY,
    next_serial bigint NOT NULL CHECK (next_serial >= 0)
);

-- Of each mailer id: how many serial numbers there are, how many of them, counted from the oldest that must not come again
-- yet, are used, and when that one is free. It runs as the owner of the tables: processes report it and read no run.
CREATE FUNCTION print_serials_used(today date)
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
