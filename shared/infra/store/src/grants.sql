-- What each process may do. `pillarbox migrate` runs this after the migrations, in one transaction: first everything is taken from
-- the groups, then they get what is said here. What is not said here is denied, so a new table needs its lines.
--
-- Columns are named where a table holds more than a process has to do with: money, passwords, secrets, people.

-- The schema's owner is the operator's command line; nobody else makes, changes or drops anything. Temporary tables are made
-- by imports only.
DO $$
DECLARE
    groups   text := 'pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console';
    relation regclass;
BEGIN
    -- Those of ours: a schema may have others' too.
    FOR relation IN
        SELECT oid FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'S')
            AND pg_has_role(relowner, 'USAGE')
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM PUBLIC, %s', relation, groups);
    END LOOP;
    EXECUTE format('REVOKE ALL ON FUNCTION scan_partitions_make, scan_partitions_drop, print_serials_used, contacts_erase FROM PUBLIC, %s', groups);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %s', current_schema(), groups);
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC, %s', current_database(), groups);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %s', current_schema(), groups);
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %s', current_database(), groups);
END $$;

-- ---- all --------------------------------------------------------------------------------------------------------------

-- Whether the schema is theirs, who does what for all, and how much waits: counts and times, nothing of anybody's.
GRANT SELECT ON refinery_schema_history
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT SELECT, INSERT, UPDATE, DELETE ON duties
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT SELECT (state, leased_until) ON sends
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT SELECT (state, created_at) ON charges
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT SELECT (due_at, attempts, leased_until, open_charge) ON jobs
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT SELECT (state, endpoint_id, is_retry, due_at) ON deliveries
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT SELECT (due_at, sent_at, attempts) ON emails
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT SELECT (state, due_at) ON ai_cells
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT SELECT (product, mail_by_date, created_at, print_run_id, print_problem, withheld) ON mailpieces
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;
GRANT EXECUTE ON FUNCTION print_serials_used
    TO pillarbox_gateway, pillarbox_mailer, pillarbox_syncer, pillarbox_dispatcher, pillarbox_console;

-- ---- gateway ----------------------------------------------------------------------------------------------------------

-- Who asks, and how often.
GRANT SELECT, INSERT, UPDATE ON rate_windows TO pillarbox_gateway;
GRANT SELECT (key_id, team_id, kind, integration_id, hash, revoked_at) ON api_keys TO pillarbox_gateway;
GRANT SELECT (integration_id, team_id, name, availability, removal_guard_percent, removal_guard_minimum, first_completed_at,
    removed_at)
    ON integrations TO pillarbox_gateway;
-- The state of a request, and a stored response whose way was lost.
GRANT SELECT (team_id, send_id, response, mailed, cost_cents, created_at, finished_at) ON sends TO pillarbox_gateway;
-- The push API reads for itself.
GRANT SELECT ON integration_fields, syncs, sync_issues TO pillarbox_gateway;
GRANT SELECT (integration_id, external_id, contact_number, fields, removed_at, changed_in, created_at, changed_at) ON contacts
    TO pillarbox_gateway;
-- From the code on a card to where it leads, with what an event tells of its recipient.
GRANT SELECT (team_id, mailpiece_id, campaign_id, entry_id, code, destinations, first_name, last_name, line_1, line_2, unit_apart,
    city, state, zip, plus4) ON mailpieces TO pillarbox_gateway;
GRANT SELECT (campaign_id, team_id, name) ON campaigns TO pillarbox_gateway;
GRANT SELECT (team_id, time_zone, honours_idempotency_keys) ON teams TO pillarbox_gateway;
GRANT SELECT (team_id, entry_id, email, phone) ON address_entries TO pillarbox_gateway;
-- A scan, counted, with its event and deliveries.
GRANT SELECT, INSERT ON scans TO pillarbox_gateway;
GRANT SELECT, INSERT, UPDATE ON campaign_days TO pillarbox_gateway;
GRANT SELECT (team_id, endpoint_id, state, all_campaigns) ON endpoints TO pillarbox_gateway;
GRANT SELECT ON endpoint_campaigns TO pillarbox_gateway;
GRANT INSERT ON events, deliveries TO pillarbox_gateway;
-- Positions in feeds, for what is noted there already.
GRANT SELECT, INSERT, UPDATE ON feeds TO pillarbox_gateway;
GRANT SELECT, UPDATE (position) ON feed_batches TO pillarbox_gateway;

-- What a team reads of its mailpieces, its campaigns and its ledger.
GRANT SELECT (step, charge_id, design_id, design_version, postage, price_cents, print_after, print_position) ON mailpieces
    TO pillarbox_gateway;
GRANT SELECT (team_id, mailpiece_id, event_id, state, basis, source, occurred_at, detail) ON mailpiece_events TO pillarbox_gateway;
GRANT SELECT (team_id, mailpiece_id, state, basis, reached_at, stalled_at) ON mailpiece_progress TO pillarbox_gateway;
GRANT SELECT (run_id, state, mailpieces, created_at, printed_at) ON print_runs TO pillarbox_gateway;
GRANT SELECT (team_id, charge_id, campaign_id, kind, mailpieces, settled_at) ON charges TO pillarbox_gateway;
GRANT SELECT (team_id, refund_id, charge_id, campaign_id, state, settled_at) ON refunds TO pillarbox_gateway;
GRANT SELECT (team_id, campaign_id, entry_id, reference) ON recipients TO pillarbox_gateway;
GRANT SELECT (status, audience, kind, held_at, budget_cents, committed_cents, resend_protection_days, cancel_minutes, stalled_hours,
    mails_returned, created_at, updated_at) ON campaigns TO pillarbox_gateway;
GRANT SELECT ON campaign_steps TO pillarbox_gateway;
GRANT SELECT (team_id, transaction_id, kind, charge_id, refund_id, reference, created_at) ON ledger_transactions
    TO pillarbox_gateway;
GRANT SELECT (team_id, transaction_id, account, amount_cents) ON ledger_entries TO pillarbox_gateway;

-- ---- mailer -----------------------------------------------------------------------------------------------------------

-- Requests, from their reservation to their response.
GRANT SELECT, INSERT, UPDATE, DELETE ON sends, send_keys TO pillarbox_mailer;
-- Whom it mails: the address book, recipients, and what people look them up by.
GRANT SELECT, INSERT, UPDATE ON address_entries, recipients TO pillarbox_mailer;
GRANT SELECT, INSERT, DELETE ON recipients_unsearched TO pillarbox_mailer;
GRANT UPDATE (batch) ON recipients_unsearched TO pillarbox_mailer; -- to lock
GRANT SELECT, INSERT ON recipient_search, entry_search TO pillarbox_mailer;
GRANT SELECT (campaign_id, address_id) ON do_not_mail TO pillarbox_mailer;
-- Campaigns as they are; of them it counts what they have spent, and holds and releases them for those who call.
GRANT SELECT ON campaigns, campaign_steps TO pillarbox_mailer;
GRANT UPDATE (committed_cents, refunded_cents, held_at, hold_changed_at, hold_source) ON campaigns TO pillarbox_mailer;
GRANT SELECT, INSERT, UPDATE, DELETE ON campaign_days TO pillarbox_mailer;
GRANT INSERT ON feed_batches, mailpiece_events TO pillarbox_mailer;
GRANT SELECT ON mailpiece_events TO pillarbox_mailer; -- to tell what is new
-- Events of mailpieces, made of what feeds tell.
GRANT SELECT, UPDATE ON mailpiece_followers TO pillarbox_mailer;
GRANT SELECT (team_id, endpoint_id, state, all_campaigns) ON endpoints TO pillarbox_mailer;
GRANT SELECT ON endpoint_event_types, endpoint_campaigns TO pillarbox_mailer;
GRANT INSERT ON events, deliveries TO pillarbox_mailer;
GRANT SELECT (team_id, event_id) ON events TO pillarbox_mailer; -- to tell what is new
GRANT SELECT, INSERT, UPDATE ON feeds TO pillarbox_mailer;
GRANT SELECT, UPDATE (position) ON feed_batches TO pillarbox_mailer;
-- What the post tells: files of its scans, how far mailpieces are, what came back.
GRANT SELECT, INSERT, UPDATE ON postal_imports, postal_inbox_files, mailpiece_progress, returned_addresses TO pillarbox_mailer;
GRANT SELECT (run_id, mailer_id, first_serial, mailpieces, printed_at, serials_free_on, settings) ON print_runs TO pillarbox_mailer;
GRANT SELECT (mailer_id) ON print_serials TO pillarbox_mailer;
GRANT SELECT (team_id, design_id, name, version, ai_draft, document) ON designs TO pillarbox_mailer;
-- Cards and the money for them. Of a card it changes only whether it is in the queue; a booking is made and never changed.
GRANT SELECT, INSERT, DELETE ON mailpieces TO pillarbox_mailer;
GRANT UPDATE (withheld, print_problem) ON mailpieces TO pillarbox_mailer;
GRANT SELECT, INSERT ON refunds TO pillarbox_mailer;
GRANT UPDATE (state, payment_reference, settled_at, attempts, due_at) ON refunds TO pillarbox_mailer;
GRANT SELECT, INSERT ON charges, ledger_transactions, ledger_entries TO pillarbox_mailer;
GRANT UPDATE (state, payment_reference, settled_at) ON charges TO pillarbox_mailer;
GRANT SELECT ON ledger_accounts TO pillarbox_mailer;
GRANT UPDATE (balance_cents) ON ledger_accounts TO pillarbox_mailer;
GRANT SELECT (team_id, name, time_zone, payment, stripe_customer, stripe_payment_method, formula_keys_see_people) ON teams
    TO pillarbox_mailer;
GRANT UPDATE (team_id) ON teams TO pillarbox_mailer; -- to lock
-- What falls due.
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO pillarbox_mailer;
-- Columns, formulas, and values that a language model writes.
GRANT SELECT, INSERT, UPDATE ON address_columns TO pillarbox_mailer;
GRANT SELECT, INSERT, DELETE ON formula_changes TO pillarbox_mailer;
GRANT INSERT ON activities TO pillarbox_mailer; -- what agents do with a key
GRANT SELECT (key_id, name) ON api_keys TO pillarbox_mailer;
GRANT SELECT, INSERT, UPDATE, DELETE ON ai_cells, ai_answers, ai_spending TO pillarbox_mailer;
-- Formulas are tried with the contacts of integrations too.
GRANT SELECT ON integrations, integration_fields TO pillarbox_mailer;
GRANT SELECT (integration_id, external_id, contact_number, fields, removed_at, changed_in, created_at, changed_at) ON contacts
    TO pillarbox_mailer;
-- Where people live, and what verifiers and picture hosts said.
GRANT SELECT ON address_points, address_streets, address_zips TO pillarbox_mailer;
GRANT SELECT (address_id) ON address_overrides TO pillarbox_mailer;
GRANT SELECT, INSERT, UPDATE, DELETE ON address_answers, pictures, return_addresses, return_address_days TO pillarbox_mailer;
-- It forgets for all who count requests, and for the console what has run out: when, and nothing of whose.
GRANT SELECT, DELETE ON rate_windows TO pillarbox_mailer;
GRANT SELECT (ctid, created_at), DELETE ON sessions TO pillarbox_mailer;
GRANT SELECT (ctid, team_id, recorded_at), DELETE ON mailpiece_events TO pillarbox_mailer;

-- ---- syncer -----------------------------------------------------------------------------------------------------------

GRANT SELECT, INSERT, UPDATE ON contacts TO pillarbox_syncer;
GRANT EXECUTE ON FUNCTION contacts_erase TO pillarbox_syncer; -- of removed integrations
GRANT SELECT, INSERT, UPDATE, DELETE ON syncs TO pillarbox_syncer;
GRANT SELECT, INSERT, DELETE ON sync_received, sync_issues, idempotency_keys TO pillarbox_syncer;
GRANT UPDATE (batch) ON sync_received, sync_issues TO pillarbox_syncer; -- to lock
GRANT UPDATE (resolved_at) ON sync_issues TO pillarbox_syncer;
GRANT SELECT ON integrations TO pillarbox_syncer;
GRANT UPDATE (first_completed_at, erased_at) ON integrations TO pillarbox_syncer;
-- Fields and the columns that they become.
GRANT SELECT, INSERT, DELETE ON integration_fields TO pillarbox_syncer;
GRANT UPDATE (label, type, options, semantic, position) ON integration_fields TO pillarbox_syncer;
GRANT SELECT, INSERT ON address_columns TO pillarbox_syncer;
GRANT UPDATE (type) ON address_columns TO pillarbox_syncer;
GRANT SELECT (team_id), UPDATE (team_id) ON teams TO pillarbox_syncer; -- to lock
-- What keeps a column's type.
GRANT SELECT (team_id, campaign_id, name, conditions) ON campaigns TO pillarbox_syncer;

-- ---- dispatcher -------------------------------------------------------------------------------------------------------

-- Events on their way. Of endpoints it writes how they fare, and it alone signs with their secrets.
GRANT SELECT, DELETE ON events TO pillarbox_dispatcher;
GRANT UPDATE (event_id) ON events TO pillarbox_dispatcher; -- to lock
GRANT SELECT, UPDATE, DELETE ON deliveries TO pillarbox_dispatcher;
GRANT SELECT, INSERT, DELETE ON attempts TO pillarbox_dispatcher;
GRANT SELECT ON endpoints TO pillarbox_dispatcher;
GRANT UPDATE (state, failures_in_row, last_error, updated_at) ON endpoints TO pillarbox_dispatcher;
-- E-mails, and whom an endpoint's failures concern.
GRANT SELECT, INSERT, UPDATE, DELETE ON emails TO pillarbox_dispatcher;
GRANT SELECT (team_id, email, role) ON members TO pillarbox_dispatcher;
GRANT SELECT (team_id) ON teams TO pillarbox_dispatcher;
-- Feeds that nobody reads, and what of them is old.
GRANT SELECT, INSERT, UPDATE ON feeds TO pillarbox_dispatcher;
GRANT SELECT, DELETE, UPDATE (position) ON feed_batches TO pillarbox_dispatcher;
-- The months of scans.
GRANT EXECUTE ON FUNCTION scan_partitions_make, scan_partitions_drop TO pillarbox_dispatcher;

-- ---- console ----------------------------------------------------------------------------------------------------------

-- Who is signed in, and the people of a team.
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions, password_links, sign_in_sources TO pillarbox_console;
GRANT SELECT, DELETE ON members TO pillarbox_console;
GRANT INSERT (member_id, team_id, email, name, role, created_at) ON members TO pillarbox_console;
GRANT UPDATE (role, password_hash, is_claimed) ON members TO pillarbox_console;
GRANT SELECT, INSERT, UPDATE ON rate_windows TO pillarbox_console;
GRANT SELECT, INSERT ON activities TO pillarbox_console;
GRANT SELECT ON teams TO pillarbox_console;
GRANT UPDATE (team_id, honours_idempotency_keys, formula_keys_see_people) ON teams TO pillarbox_console; -- team_id to lock
-- Money is looked at. A wish to pay in is written down; booking it is the operator's.
GRANT SELECT ON charges, ledger_accounts, ledger_transactions, ledger_entries, refunds TO pillarbox_console;
GRANT SELECT, INSERT ON top_up_requests TO pillarbox_console;
GRANT UPDATE (state) ON top_up_requests TO pillarbox_console;
GRANT SELECT (team_id, mailpiece_id, campaign_id, charge_id, step, postage, price_cents, address_id) ON mailpieces
    TO pillarbox_console;
-- What nobody wants any more leaves the queue; a mailer cancels it, and gives the money back.
GRANT UPDATE (withheld) ON mailpieces TO pillarbox_console;
-- Campaigns: all that is set of them, not what they have spent.
GRANT SELECT ON campaigns, campaign_steps, campaign_days TO pillarbox_console;
GRANT UPDATE (status, area, conditions, updated_at, list_changes, held_at, hold_changed_at, hold_source) ON campaigns
    TO pillarbox_console;
GRANT INSERT ON campaigns TO pillarbox_console;
GRANT UPDATE (name, audience, budget_cents, resend_protection_days, strictness, kind, radius_metres, homes_per_center,
    cancel_minutes, cancels_unwanted, archived_at) ON campaigns TO pillarbox_console;
GRANT INSERT, DELETE ON campaign_steps TO pillarbox_console;
GRANT SELECT, INSERT, DELETE ON do_not_mail TO pillarbox_console;
GRANT SELECT, INSERT, UPDATE ON designs TO pillarbox_console;
GRANT SELECT, INSERT ON design_versions TO pillarbox_console;
GRANT SELECT, INSERT, UPDATE ON pictures TO pillarbox_console;
-- People: the address book, recipients, contacts.
GRANT SELECT ON address_entries, entry_search, recipients, recipient_search, contacts, returned_addresses TO pillarbox_console;
GRANT UPDATE (status, reason, removed_at) ON recipients TO pillarbox_console;
GRANT UPDATE (removed_at, removed_in, changed_at) ON contacts TO pillarbox_console;
GRANT SELECT, INSERT, UPDATE ON address_columns TO pillarbox_console;
GRANT SELECT, INSERT, DELETE ON formula_changes TO pillarbox_console;
GRANT SELECT ON ai_cells TO pillarbox_console;
-- Keys and integrations.
GRANT SELECT, INSERT ON api_keys, integrations TO pillarbox_console;
GRANT UPDATE (revoked_at) ON api_keys TO pillarbox_console;
GRANT UPDATE (availability, removal_guard_percent, removal_guard_minimum, removed_at) ON integrations TO pillarbox_console;
GRANT SELECT ON integration_fields, syncs, sync_issues TO pillarbox_console;
GRANT UPDATE (semantic, is_mapped_by_owner) ON integration_fields TO pillarbox_console;
GRANT UPDATE (undone_at, status) ON syncs TO pillarbox_console;
-- Endpoints, with the secrets that it shows once, and what came of deliveries.
GRANT SELECT, INSERT, UPDATE ON endpoints TO pillarbox_console;
GRANT SELECT, INSERT, DELETE ON endpoint_campaigns, endpoint_event_types TO pillarbox_console;
-- Where an endpoint's events of mailpieces begin.
GRANT SELECT (team_id), INSERT ON mailpiece_followers TO pillarbox_console;
GRANT SELECT, INSERT, UPDATE ON feeds TO pillarbox_console;
GRANT SELECT, UPDATE (position) ON feed_batches TO pillarbox_console;
GRANT SELECT, INSERT, UPDATE ON deliveries TO pillarbox_console;
GRANT SELECT, INSERT ON events TO pillarbox_console;
GRANT SELECT, DELETE ON attempts TO pillarbox_console;
