import { createHash, randomBytes, randomUUID } from 'node:crypto'
import bowser from 'bowser'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { Device } from '../contract/fields.ts'
import { randomSecret } from '../server/features/sessions/cookie.ts'
import type { Sessions } from '../server/features/sessions/sessions.service.ts'
import type { Db } from '../server/kernel/db/database.ts'
import { HTML_TYPE } from '../server/kernel/http/refusal.ts'

type Options = { db: Db; sessions: Sessions; userId: string }

/** Serves a link that signs in as a user, and returns its path, which nobody can guess. */
export function serveSignInLink(http: FastifyInstance, { db, sessions, userId }: Options): string {
  const path = `/demo/${randomBytes(16).toString('base64url')}`
  http.get(path, async (request, reply) => {
    const clientToken = randomUUID()
    const opened = await openSession(db, sessions, {
      userId,
      clientToken,
      device: deviceOf(request.headers['user-agent']),
    })
    sessions.setCookie(reply, opened)
    // The web app reads the session's client token from there.
    const script = `localStorage.setItem('client-token', '${clientToken}'); location.replace('/')`
    const hash = createHash('sha256').update(script).digest('base64')
    return reply
      .headers({
        'content-security-policy': `default-src 'none'; script-src 'sha256-${hash}'`,
        'cache-control': 'no-store',
      })
      .type(HTML_TYPE)
      .send(`<!doctype html><meta charset="utf-8"><title>Вход</title><script>${script}</script>`)
  })
  return path
}

/** Opens sessions some days before `now`, so that the list of devices is not empty. */
export async function openOtherSessions(
  { db, sessions, userId }: Options,
  now: Date,
): Promise<void> {
  for (const { device, days } of OTHER_DEVICES) {
    const { id } = await openSession(db, sessions, { userId, clientToken: randomUUID(), device })
    const began = new Date(now.getTime() - days * DAY_MS)
    await sql`UPDATE sessions SET created_at = ${began}, used_at = ${began} WHERE id = ${id}`.execute(
      db,
    )
  }
}

const DAY_MS = 86_400_000
const OTHER_DEVICES: { device: Device; days: number }[] = [
  { device: { userAgent: 'Firefox', userAgentVersion: '140.0', os: 'Windows 11' }, days: 9 },
  { device: { userAgent: 'Safari', userAgentVersion: '18.5', os: 'iOS 18.5' }, days: 2 },
]

function deviceOf(header = ''): Device {
  const { browser, os } = bowser.parse(header || 'unknown')
  return {
    userAgent: browser.name ?? '',
    userAgentVersion: browser.version ?? '',
    os: os.name ?? '',
  }
}

async function openSession(
  db: Db,
  sessions: Sessions,
  { userId, clientToken, device }: { userId: string; clientToken: string; device: Device },
) {
  const [operationId, browser] = [randomSecret(), randomSecret()]
  const opening = { operationId, userId, clientToken, browser, networkHash: null, device }
  const opened = await db.transaction().execute((tx) => sessions.open(tx, opening))
  return opened.secret
}
