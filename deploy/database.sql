-- Creates the wall's role and database unless they exist. As a superuser: psql -f database.sql

SELECT 'CREATE ROLE vslukh LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vslukh')
\gexec

-- The locale sorts independently of the system's libraries, and knows Cyrillic letters.
SELECT 'CREATE DATABASE vslukh OWNER vslukh ENCODING ''UTF8'' TEMPLATE template0 ' ||
  CASE WHEN current_setting('server_version_num')::int < 170000
    THEN 'LC_COLLATE ''C'' LC_CTYPE ''C.UTF-8'''
    ELSE 'LOCALE_PROVIDER builtin BUILTIN_LOCALE ''C.UTF-8'' LOCALE ''C'''
  END
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'vslukh')
\gexec

REVOKE ALL ON DATABASE vslukh FROM PUBLIC;
