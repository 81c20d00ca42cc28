-- Secrets are shown in the answer to the form that makes them, so none waits anywhere for a page.
DROP TABLE shown_once;
