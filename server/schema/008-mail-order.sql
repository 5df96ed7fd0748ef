-- additive

-- Mails leave in this order, and those of one priority by age: codes, of these the untried, then those to known addresses.
ALTER TABLE outbox ADD COLUMN priority integer NOT NULL GENERATED ALWAYS AS (
  CASE WHEN is_urgent THEN 0 ELSE 4 END
  + CASE WHEN tries = 0 THEN 0 ELSE 2 END
  + CASE WHEN is_to_new_address OR coalesce((payload->>'isDigest')::boolean, false) THEN 1 ELSE 0 END
) STORED;

-- A time that is further ahead than anybody sets it was set by a clock that was ahead.
CREATE VIEW mails_in_conversation AS
  SELECT domain, payload->>'asker' AS asker, is_to_new_address FROM outbox
  WHERE payload IS NOT NULL AND claimed_until > now() AND claimed_until <= now() + interval '2 minutes';

CREATE VIEW due_mails AS
  SELECT * FROM outbox
  WHERE payload IS NOT NULL AND (due_at <= now() OR due_at > now() + interval '10 minutes')
    AND (claimed_until IS NULL OR claimed_until <= now() OR claimed_until > now() + interval '2 minutes');

-- A mail server that hangs must not occupy all senders.
CREATE VIEW busy_domains AS
  SELECT domain FROM mails_in_conversation GROUP BY domain HAVING count(*) >= 2;

-- The people of a network, each with another domain, must not wait for one of them that hangs.
CREATE VIEW busy_askers AS
  SELECT asker, is_to_new_address FROM mails_in_conversation
  GROUP BY asker, is_to_new_address HAVING count(*) >= 2;

CREATE VIEW sendable_mails AS
  SELECT * FROM due_mails mail
  WHERE NOT EXISTS (SELECT FROM busy_domains busy WHERE busy.domain = mail.domain)
    AND NOT EXISTS (SELECT FROM busy_askers busy
      WHERE busy.asker = mail.payload->>'asker' AND busy.is_to_new_address = mail.is_to_new_address)
    AND NOT EXISTS (SELECT FROM mails_in_conversation other
      WHERE other.domain = mail.domain AND other.asker = mail.payload->>'asker'
        AND other.is_to_new_address = mail.is_to_new_address);
