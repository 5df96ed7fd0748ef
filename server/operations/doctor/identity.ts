import { deriveKey, isSameSecret } from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { Db } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Node } from '../../kernel/feature.ts'
import { plainAddress, proxyTrust } from '../../kernel/http/forwarded-for.ts'
import type { RefusedNetwork } from '../../kernel/http/refusal-log.ts'
import { readSecret } from '../start/installation.ts'

export const IDENTITY_PATH = '/.well-known/vslukh'
const QUESTION_HEADER = 'x-vslukh-question'
const KEY = 'doctor'

/** How the request arrived, and which networks this node has refused most; it stores them nowhere. */
export type Seen = {
  peer: string
  isForwarded: boolean
  isTrusted: boolean
  refused: RefusedNetwork[]
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
  http.get(IDENTITY_PATH, { schema: { hide: true }, logLevel: 'warn' }, (request, reply) => {
    const asked = String(request.headers[QUESTION_HEADER] ?? '')
    if (!isSameSecret(asked, question)) throw new AppError('NOT_FOUND')
    const peer = request.socket.remoteAddress
    const seen: Seen = {
      peer: plainAddress(peer),
      isForwarded: request.headers['x-forwarded-for'] !== undefined,
      isTrusted: isTrusted(peer),
      refused: refused(),
    }
    return reply.header('cache-control', 'no-store').send(seen)
  })
}
