type Report = { userLimits?: { open_files: { soft: number | 'unlimited' } } }

/** The database's connections, mail, the log, and what Node itself holds open. */
const RESERVED = 64
const CONNECTIONS_MAX = 4096
const CONNECTIONS_MIN = 16

/** How many files this process may have open; Node has raised the soft limit to the hard one. */
function openFilesLimit(): number {
  // What it would find out about the network can take long, and is not asked for.
  const report = Object.assign(process.report, { excludeNetwork: true })
  const limit = (report.getReport() as Report).userLimits?.open_files.soft
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
}

/**
 * How many connections a server may have: each is an open file, and may read another slowly. More than some thousand
 * would cost memory for nothing, since idle ones make room.
 */
export function connectionsLimit(): number {
  const fitting = Math.floor((openFilesLimit() - RESERVED) / 2)
  return Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, fitting))
}
