import { createHmac } from 'node:crypto'

export const IDENTITY_PATH = '/.well-known/vslukh'
export const QUESTION_HEADER = 'x-vslukh-question'

/** What a server answers to whoever knows its secret. */
export type Seen = {
  proof: string
  /** The address that the question came from: a proxy's, where there is one. */
  peer: string
  /** Whether it came with X-Forwarded-For, and whether the peer is in TRUST_PROXY. */
  isForwarded: boolean
  isTrusted: boolean
}

/** Proves that somebody knows the key: a question's proof is no answer's. */
export function sign(key: Buffer, role: 'question' | 'answer', nonce: string): string {
  return createHmac('sha256', key).update(`${role}:${nonce}`).digest('base64url')
}
