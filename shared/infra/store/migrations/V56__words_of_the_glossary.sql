-- One word for one thing, that of docs/glossary.md: a mailpiece and no piece, a member and no user. Names change, and no row.
-- Processes of the version before ask for the earlier names, so this one migration needs them to have ended.

ALTER TABLE pieces RENAME TO mailpieces;
ALTER TABLE mailpieces RENAME piece_id TO mailpiece_id;
ALTER TABLE scans RENAME piece_id TO mailpiece_id;
ALTER TABLE charges RENAME pieces TO mailpieces;
ALTER TABLE print_runs RENAME pieces TO mailpieces;

ALTER TABLE users RENAME TO members;
ALTER TABLE members RENAME user_id TO member_id;
ALTER TABLE sessions RENAME user_id TO member_id;
ALTER TABLE password_links RENAME user_id TO member_id;
ALTER TABLE shown_once RENAME user_id TO member_id;
ALTER TABLE sign_in_sources RENAME user_id TO member_id;
ALTER TABLE formula_changes RENAME user_name TO member_name;
ALTER TABLE top_up_requests RENAME user_name TO member_name;
ALTER TABLE activities RENAME user_id TO member_id;
-- A member or the operator.
ALTER TABLE activities RENAME user_name TO actor_name;
ALTER INDEX activities_by_person RENAME TO activities_by_member;

-- Constraints and indexes that are named after them; the indexes of keys go with their constraints.
DO $$
DECLARE
    renamed record;
BEGIN
    FOR renamed IN
        SELECT format(CASE WHEN named.is_index THEN 'ALTER INDEX %2$I RENAME TO %3$I'
                ELSE 'ALTER TABLE %1$s RENAME CONSTRAINT %2$I TO %3$I' END, named.relation, named.name,
            regexp_replace(regexp_replace(named.name, '(^|_)pieces_', '\1mailpieces_'), '(^|_)user(s|_id|$)', '\1member\2')
            ) AS statement
        FROM (
            SELECT conrelid::regclass, conname, false FROM pg_constraint
            WHERE connamespace = current_schema()::regnamespace AND contype <> 'n'
            UNION ALL
            SELECT indrelid::regclass, relname, true FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE relnamespace = current_schema()::regnamespace
                AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype <> 'f')
            ) named (relation, name, is_index)
        WHERE named.name ~ '(^|_)(pieces_|users|user_id|user$)'
    LOOP
        EXECUTE renamed.statement;
    END LOOP;
END $$;

-- Forgetting what was spent on days before.
CREATE INDEX ai_spending_by_day ON ai_spending (day);
