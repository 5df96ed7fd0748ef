-- For compose.yaml, after database.sql: the app's role gets the password of the container's environment, and the superuser loses it,
-- so that it can sign in only inside the container.
\getenv password POSTGRES_PASSWORD
ALTER ROLE vslukh PASSWORD :'password';
ALTER ROLE postgres PASSWORD NULL;
