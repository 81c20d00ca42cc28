-- Who gave a formula column which formula, for people who ask why a value has changed. One row for each change over the
-- Formula MCP server; the newest of each column are kept.
CREATE TABLE formula_changes (
    team_id          uuid NOT NULL REFERENCES teams,
    -- The request that made the change: delivered again, it is known by it.
    request_id       uuid NOT NULL,
    -- The column's folded name.
    name_key         text NOT NULL,
    -- The key that was used.
    key_id           uuid NOT NULL REFERENCES api_keys,
    formula          text NOT NULL,
    -- NULL when the column was new.
    previous_formula text,
    changed_at       timestamptz NOT NULL,
    PRIMARY KEY (team_id, request_id)
);
CREATE INDEX formula_changes_by_column ON formula_changes (team_id, name_key, changed_at, request_id);

-- What uses a column is looked for among the campaigns of its team.
CREATE INDEX campaigns_by_team ON campaigns (team_id, campaign_id);
