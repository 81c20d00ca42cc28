-- The unit of the delivery line that the sender had put in address_2: it prints on the line, and is told where it was sent.
ALTER TABLE pieces ADD COLUMN unit_apart text NOT NULL DEFAULT '';
ALTER TABLE address_entries ADD COLUMN unit_apart text NOT NULL DEFAULT '';

-- The contract reads no Idempotency-Key on sends: it is honoured for teams that have switched it on.
ALTER TABLE teams ADD COLUMN honours_idempotency_keys boolean NOT NULL DEFAULT false;
