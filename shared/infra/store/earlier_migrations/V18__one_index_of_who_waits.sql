-- Recipients that wait on filter conditions are looked up by address and walked in order. With an index for each, a plan made
-- while the table is small may walk instead of looking up; one index serves both.
DROP INDEX recipients_waiting;
DROP INDEX recipients_waiting_in_order;
CREATE INDEX recipients_waiting ON recipients (team_id, campaign_id, address_id, entry_id)
    WHERE reason = 'filtered_conditions';
-- For the same reason this one begins with the charge: it serves those who know it, and nobody else.
DROP INDEX pieces_by_charge;
CREATE INDEX pieces_by_charge ON pieces (charge_id, team_id);
