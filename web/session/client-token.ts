import { CLIENT_TOKEN_MAX } from '../../contract/constants.ts'
import { storedClientToken } from '../http/token.ts'
import { randomKey } from '../platform/ids.ts'
import { localStore } from '../platform/storage.ts'
import { CLIENT_TOKEN_KEY } from '../platform/stored-keys.ts'
import { wait, whenIdle } from '../platform/timing.ts'

const IDLE_MS = 500
const IDENTIFY_MS = 3000

let token: Promise<string> | null = null

/** Returns the stored token: a session is refreshed only with the token it began with. */
export function clientToken(): Promise<string> {
  token ??= readToken()
  return token
}

/** Rejects if `read` takes more than 3 s. */
export function withinTime<Result>(read: () => Promise<Result>): Promise<Result> {
  return Promise.race([read(), wait(IDENTIFY_MS).then(() => Promise.reject())])
}

async function readToken(): Promise<string> {
  const stored = storedClientToken()
  if (stored) return stored
  // A content blocker may keep the script away, or let it hang.
  const computed = await withinTime(computeToken).catch(randomKey)
  const first = storedClientToken() ?? computed
  localStore.write(CLIENT_TOKEN_KEY, first)
  return first
}

async function computeToken(): Promise<string> {
  await new Promise<void>((resolve) => whenIdle(resolve, IDLE_MS))
  const { default: fingerprint } = await import('@fingerprintjs/fingerprintjs')
  // Monitoring would report to the library's makers, which the page's policy refuses.
  const agent = await fingerprint.load({ monitoring: false })
  const { visitorId } = await agent.get()
  return visitorId.slice(0, CLIENT_TOKEN_MAX)
}
