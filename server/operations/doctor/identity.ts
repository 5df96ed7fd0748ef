import { deriveKey, isSameSecret } from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { Db } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { createProxyCheck, plainAddress } from '../../kernel/http/forwarded-for.ts'
import type { RefusedNetwork } from '../../kernel/http/refusal-log.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { readSecret } from '../start/installation.ts'

export const IDENTITY_PATH = '/.well-known/vslukh'
const QUESTION_HEADER = 'x-vslukh-question'
const KEY = 'doctor'

/** How the doctor's request arrived, and the networks that this node has refused most. */
export type DoctorRequest = {
  /** The address of the connection, which is the proxy's if there is one. */
  peer: string
  isForwarded: boolean
  /** Whether `peer` is in TRUST_PROXY. */
  isTrusted: boolean
  refused: RefusedNetwork[]
}

/** Returns the header that proves that a command knows the wall's secret. Throws StartError. */
export async function questionHeader(db: Db, config: Config): Promise<Record<string, string>> {
  return { [QUESTION_HEADER]: questionOf(deriveKey(await readSecret(db, config), KEY)) }
}

const questionOf = (key: Buffer) => key.toString('base64url')

/** Serves the `DoctorRequest` to callers who know the secret, and 404 to others, because it is private. */
export function registerIdentity(
  { http, key, config }: ServerContext,
  readRefused: () => RefusedNetwork[],
): void {
  const question = questionOf(key(KEY))
  const isTrusted = createProxyCheck(config.trustProxy)
  http.get(IDENTITY_PATH, { logLevel: 'warn' }, (request, reply) => {
    const answer = String(request.headers[QUESTION_HEADER] ?? '')
    if (!isSameSecret(answer, question)) throw new AppError('NOT_FOUND')
    const peer = request.socket.remoteAddress
    const arrival: DoctorRequest = {
      peer: plainAddress(peer),
      isForwarded: request.headers['x-forwarded-for'] !== undefined,
      isTrusted: isTrusted(peer),
      refused: readRefused(),
    }
    return reply.header('cache-control', 'no-store').send(arrival)
  })
}
