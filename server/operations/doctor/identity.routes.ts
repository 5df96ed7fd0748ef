import type { FastifyInstance } from 'fastify'
import { isSameSecret } from '../../kernel/config/app-secret.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { plainAddress, proxyTrust } from '../../kernel/http/client-headers.ts'
import { IDENTITY_PATH, QUESTION_HEADER, type Seen, sign } from './identity.ts'

/**
 * Serves the answer by which the doctor recognises its server, with how the question arrived.
 * Anybody else is answered as for a page that does not exist: a proxy's address is not public.
 */
export function registerIdentity(
  http: FastifyInstance,
  { key, trustProxy }: { key: Buffer; trustProxy: string[] },
): void {
  const isTrusted = proxyTrust(trustProxy)
  http.get(IDENTITY_PATH, { schema: { hide: true }, logLevel: 'warn' }, async (request, reply) => {
    const [nonce = '', proof = ''] = String(request.headers[QUESTION_HEADER] ?? '').split('.')
    if (!isSameSecret(proof, sign(key, 'question', nonce))) throw new AppError('NOT_FOUND')
    const peer = request.socket.remoteAddress
    const seen: Seen = {
      proof: sign(key, 'answer', nonce),
      peer: plainAddress(peer),
      isForwarded: request.headers['x-forwarded-for'] !== undefined,
      isTrusted: isTrusted(peer),
    }
    return reply.header('cache-control', 'no-store').send(seen)
  })
}
