/** The application name of the connections on which nodes receive changes ends in a version. */
export const FEED_NAME = 'vslukh change feed '
/** Of 0.1.0 it ends before that. */
const NODES = `pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE '${FEED_NAME.trim()}%'`
export const COUNT_NODES = `SELECT count(*)::int AS nodes FROM ${NODES}`
export const SELECT_NODE_VERSIONS = `SELECT DISTINCT
    coalesce(nullif(substr(application_name, ${FEED_NAME.length + 1}), ''), '0.1.0') AS version
  FROM ${NODES} ORDER BY 1`
