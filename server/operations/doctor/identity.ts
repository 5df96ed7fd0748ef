import type { FastifyRequest } from 'fastify'
import { deriveKey, isSameSecret } from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { Db } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Node } from '../../kernel/feature.ts'
import { plainAddress, proxyTrust } from '../../kernel/http/forwarded-for.ts'
import type { RefusedNetwork } from '../../kernel/http/refusal-log.ts'
import { readSecret } from '../start/installation.ts'

export const IDENTITY_PATH = '/.well-known/vslukh'
/** Which networks this node has refused most, with their addresses: it keeps them in memory alone. */
export const REFUSED_PATH = `${IDENTITY_PATH}/refused`
const QUESTION_HEADER = 'x-vslukh-question'
const KEY = 'doctor'

/** How the doctor's request arrived; shown only to callers who know the wall's secret. */
export type Seen = {
  /** The address that the question came from: a proxy's, where there is one. */
  peer: string
  /** Whether it came with X-Forwarded-For, and whether the peer is in TRUST_PROXY. */
  isForwarded: boolean
  isTrusted: boolean
}

/** Returns the header by which a command shows that it knows the wall's secret. */
export async function questionHeader(db: Db, config: Config): Promise<Record<string, string>> {
  return { [QUESTION_HEADER]: questionOf(deriveKey(await readSecret(db, config), KEY)) }
}

const questionOf = (key: Buffer) => key.toString('base64url')

/** Other callers get the answer for a missing page: a proxy's address is not public. */
export function registerIdentity(
  { http, key, config }: Node,
  refused: () => RefusedNetwork[],
): void {
  const question = questionOf(key(KEY))
  const isTrusted = proxyTrust(config.trustProxy)
  const hidden = { schema: { hide: true }, logLevel: 'warn' } as const
  const requireQuestion = ({ headers }: FastifyRequest) => {
    const asked = String(headers[QUESTION_HEADER] ?? '')
    if (!isSameSecret(asked, question)) throw new AppError('NOT_FOUND')
  }
  http.get(REFUSED_PATH, hidden, async (request, reply) => {
    requireQuestion(request)
    return reply.header('cache-control', 'no-store').send(refused())
  })
  http.get(IDENTITY_PATH, hidden, async (request, reply) => {
    requireQuestion(request)
    const peer = request.socket.remoteAddress
    const seen: Seen = {
      peer: plainAddress(peer),
      isForwarded: request.headers['x-forwarded-for'] !== undefined,
      isTrusted: isTrusted(peer),
    }
    return reply.header('cache-control', 'no-store').send(seen)
  })
}
