import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../server/kernel/db/database.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'
import { openPostgresProxy } from '../../server/testing/postgres-proxy.ts'
import { type Node, startNode } from '../nodes/pair.ts'
import { startProxy } from '../operations/proxies.ts'
import { haproxyConfig } from '../operations/proxy-configs.ts'
import { startPostgresCluster } from './postgres-cluster.ts'
import { findPrograms } from './programs.ts'

export type Site = Awaited<ReturnType<typeof startSite>>

/**
 * Starts a PostgreSQL cluster, two nodes that use its primary, and deploy/haproxy.cfg before the
 * nodes. The first node reaches the primary over a line that can be cut. The caller closes it.
 */
export async function startSite() {
  await using started = new AsyncDisposableStack()
  const cluster = await startPostgresCluster(await findPrograms())
  started.defer(cluster.close)
  const mailbox = await openMailbox()
  started.defer(mailbox.close)
  const line = await openPostgresProxy(cluster.primaryUrl)
  started.defer(line.close)
  const lineUrl = new URL(cluster.primaryUrl)
  lineUrl.host = new URL(line.url).host

  const startOn = (databaseUrl: string) =>
    startNode(started, {
      DATABASE_URL: databaseUrl,
      SMTP_URL: mailbox.url,
      ACCESS_TOKEN_SECONDS: '3600',
    })
  const nodes: [Node, Node] = [await startOn(lineUrl.href), await startOn(cluster.primaryUrl)]

  const folder = await mkdtemp(join(tmpdir(), 'vslukh-cluster-proxy-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const addresses = nodes.map(({ product }) => product.address)
  const settings = { folder, httpPort, httpsPort, nodes: addresses }
  const proxy = await startProxy(await haproxyConfig(settings), settings)
  started.defer(proxy.close)
  const { db, close } = openDatabase(cluster.primaryUrl, () => {})
  started.defer(close)
  const running = started.move()
  return { cluster, mailbox, line, nodes, url: proxy.url, db, close: () => running.disposeAsync() }
}
