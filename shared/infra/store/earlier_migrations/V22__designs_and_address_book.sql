-- What the pages about designs and the address book ask for.

-- Who saved a version, by name; NULL for one that came from an operator's file.
ALTER TABLE design_versions ADD COLUMN saved_by text;

-- Formulas change over the Formula MCP server, by a key, and in the console, by a person.
ALTER TABLE formula_changes
    ALTER COLUMN key_id DROP NOT NULL,
    ADD COLUMN user_name text,
    ADD CONSTRAINT formula_changes_made_by CHECK (num_nonnulls(key_id, user_name) = 1);

-- A locked column keeps its type whatever an integration declares.
ALTER TABLE address_columns ADD COLUMN is_locked boolean NOT NULL DEFAULT false;
UPDATE address_columns SET is_locked = true WHERE source = 'owner';

-- People look entries up by name, last name first, in lower case. As recipient_search it is written behind a request's back;
-- an entry's name never changes, for its id is made of it.
CREATE TABLE entry_search (
    team_id  uuid NOT NULL,
    key      text COLLATE "C" NOT NULL,
    entry_id uuid NOT NULL,
    PRIMARY KEY (team_id, key, entry_id)
);
INSERT INTO entry_search (team_id, key, entry_id)
SELECT team_id, lower(trim(last_name || ' ' || first_name)), entry_id FROM address_entries;
