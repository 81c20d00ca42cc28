-- Formula columns are computed when they are read and stored nowhere: a change of formula changes one row. AI columns are
-- written by a language model in the background, into the entries' "custom" like values that were sent.
ALTER TABLE address_columns
    ADD COLUMN formula text,
    ADD COLUMN prompt text,
    -- An AI column whose prompt is new: entries up to this one have been queued. NULL when all have.
    ADD COLUMN queued_up_to uuid,
    -- When the prompt was new. What became due since then is asked with it anyway.
    ADD COLUMN prompted_at timestamptz,
    ADD CONSTRAINT address_columns_formula CHECK (formula IS NULL OR kind = 'formula'),
    ADD CONSTRAINT address_columns_prompt CHECK (prompt IS NULL OR kind = 'ai');
CREATE INDEX address_columns_to_queue ON address_columns (team_id, column_id) WHERE queued_up_to IS NOT NULL;

-- A value that a language model is to write, is writing or has written.
CREATE TABLE ai_cells (
    team_id      uuid NOT NULL,
    -- The column's folded name.
    name_key     text NOT NULL,
    entry_id     uuid NOT NULL,
    -- waiting -> written | blank; any of them -> waiting when the entry or the prompt changes.
    state        text NOT NULL CHECK (state IN ('waiting', 'written', 'blank')),
    -- Why there is no value, or not yet. NULL when there is nothing to say.
    reason       text,
    -- Calls that failed since it began to wait.
    attempts     integer NOT NULL DEFAULT 0,
    due_at       timestamptz NOT NULL,
    lease_id     uuid,
    leased_until timestamptz,
    PRIMARY KEY (team_id, name_key, entry_id)
);
CREATE INDEX ai_cells_due ON ai_cells (due_at) WHERE state = 'waiting';

-- Answers by the digest of what was asked: the same question is asked once.
CREATE TABLE ai_answers (
    team_id uuid NOT NULL,
    digest  bytea NOT NULL,
    answer  text NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, digest)
);
CREATE INDEX ai_answers_by_age ON ai_answers (made_at);

-- Characters asked and answered, by team and UTC day. They are taken before the call: a killed worker's calls count.
CREATE TABLE ai_spending (
    team_id    uuid NOT NULL,
    day        date NOT NULL,
    characters bigint NOT NULL,
    PRIMARY KEY (team_id, day)
);
