/** The application name of a node's change feed, which ends in the node's version. */
export const FEED_NAME = 'vslukh change feed '
const NODES = `pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE '${FEED_NAME}%'`
export const COUNT_NODES = `SELECT count(*)::int AS nodes FROM ${NODES}`
export const SELECT_NODE_VERSIONS = `SELECT DISTINCT substr(application_name, ${FEED_NAME.length + 1}) AS version
  FROM ${NODES} ORDER BY 1`
