type Report = { userLimits?: { open_files: { soft: number | 'unlimited' } } }

/** Files for the database's connections, mail, the log, and Node itself. */
const RESERVED = 64
const CONNECTIONS_MAX = 4096
const CONNECTIONS_MIN = 16

/** Returns how many files this process may have open; Node has raised the soft limit to the hard one. */
function openFilesLimit(): number {
  // The report's part on the network can take long.
  const report = Object.assign(process.report, { excludeNetwork: true })
  const limit = (report.getReport() as Report).userLimits?.open_files.soft
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
}

/**
 * Returns how many connections a server may have: each is an open file, and may be reading another one. More than some
 * thousand would only cost memory, since idle ones make room.
 */
export function connectionsLimit(): number {
  const fitting = Math.floor((openFilesLimit() - RESERVED) / 2)
  return Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, fitting))
}
