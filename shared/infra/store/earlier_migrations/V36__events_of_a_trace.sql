-- The place in a trace of the scan that made the event (W3C traceparent), below which its deliveries go. None when traces are off
-- or the scan's is not among those that are sent.
ALTER TABLE events ADD COLUMN traceparent text;
