-- additive

-- Without a key of its rows, PostgreSQL refuses deletions in a database that is replicated FOR ALL TABLES.
ALTER TABLE mail_refusals ADD COLUMN id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY;
