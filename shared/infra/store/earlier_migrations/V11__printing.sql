-- Printing: what a card prints of its recipient, the runs that print cards, and every version of a design.

-- Every version that was ever saved: a card prints with the one of its send, whatever was saved since.
CREATE TABLE design_versions (
    team_id   uuid NOT NULL,
    design_id uuid NOT NULL,
    version   integer NOT NULL CHECK (version > 0),
    document  jsonb NOT NULL,
    saved_at  timestamptz NOT NULL,
    PRIMARY KEY (team_id, design_id, version),
    FOREIGN KEY (team_id, design_id) REFERENCES designs
);
INSERT INTO design_versions SELECT team_id, design_id, version, document, updated_at FROM designs;

-- One run of the printer: cards of one product that become one file.
--
--   claimed ──files kept──▶ printed
--
-- The cards, their order and all else that the files are made from are fixed when the run is claimed: whoever takes
-- over a run whose printer died makes the same files under the same names.
CREATE TABLE print_runs (
    run_id       uuid PRIMARY KEY,
    product      text NOT NULL,
    state        text NOT NULL CHECK (state IN ('claimed', 'printed')),
    -- Cards claimed. Those that could not print are set aside when the run ends.
    pieces       integer NOT NULL CHECK (pieces > 0),
    set_aside    integer NOT NULL DEFAULT 0 CHECK (set_aside BETWEEN 0 AND pieces),
    -- The settings of the moment of the claim that show on paper: the public address, the mailer's id, the permit.
    settings     jsonb NOT NULL,
    -- The barcode's serial number of the first card; the others follow in their order.
    first_serial bigint NOT NULL CHECK (first_serial >= 0),
    lease_id     uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    created_at   timestamptz NOT NULL,
    printed_at   timestamptz,
    CHECK ((state = 'printed') = (printed_at IS NOT NULL))
);
CREATE INDEX print_runs_open ON print_runs (leased_until) WHERE state = 'claimed';

-- The next serial number of each mailer id, counted without end: a barcode carries its last digits.
CREATE TABLE print_serials (
    mailer_id   text PRIMARY KEY,
    next_serial bigint NOT NULL CHECK (next_serial >= 0)
);

ALTER TABLE pieces
    -- What it prints of its recipient, as decided when it was made: fields, return address, pictures.
    ADD COLUMN content jsonb NOT NULL DEFAULT '{}',
    -- The run that prints it, and its place there, from 1. NULL is queued.
    ADD COLUMN print_run_id uuid,
    ADD COLUMN print_position integer CHECK (print_position > 0),
    -- Why it could not print. It waits until an operator tells it to try again.
    ADD COLUMN print_problem text,
    ADD CHECK ((print_run_id IS NULL) = (print_position IS NULL)),
    ADD CHECK (print_problem IS NULL OR print_run_id IS NULL);
-- The queue: cards come in, and leave when a run claims them.
CREATE INDEX pieces_queued ON pieces (product, mail_by_date) WHERE print_run_id IS NULL AND print_problem IS NULL;
CREATE UNIQUE INDEX pieces_by_print_run ON pieces (print_run_id, print_position) WHERE print_run_id IS NOT NULL;
CREATE INDEX pieces_set_aside ON pieces (team_id, piece_id) WHERE print_problem IS NOT NULL;
