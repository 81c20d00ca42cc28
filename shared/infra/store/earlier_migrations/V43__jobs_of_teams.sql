-- The next job of each team, however many another one has waiting.
CREATE INDEX jobs_by_team_and_due ON jobs (team_id, due_at);
