import { CLIENT_TOKEN_MAX } from '../../contract/constants.ts'
import { localStore } from '../platform/storage.ts'
import { CLIENT_TOKEN_KEY } from '../platform/stored-keys.ts'
import { whenIdle } from '../platform/when-idle.ts'

const IDLE_MS = 500
const ACCEPTED = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${CLIENT_TOKEN_MAX}}$`, 'u')

let token: Promise<string> | null = null

/** This browser could not be identified. The message is Russian and may be shown as it is. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError'
  constructor(options?: ErrorOptions) {
    super('Не удалось идентифицировать user-agent', options)
  }
}

/** Stored after it was computed: a session is refreshed only with the token it began with. */
export function clientToken(): Promise<string> {
  token ??= readToken().catch((error: unknown) => {
    token = null
    throw new DeviceError({ cause: error })
  })
  return token
}

async function readToken(): Promise<string> {
  const stored = storedToken()
  if (stored) return stored
  await new Promise<void>((resolve) => whenIdle(resolve, IDLE_MS))
  const { default: fingerprint } = await import('@fingerprintjs/fingerprintjs')
  // Monitoring would report some runs to the library's makers, which the page's policy refuses.
  const agent = await fingerprint.load({ monitoring: false })
  const { visitorId } = await agent.get()
  const computed = visitorId.slice(0, CLIENT_TOKEN_MAX)
  const first = storedToken() ?? computed
  localStore.write(CLIENT_TOKEN_KEY, first)
  return first
}

function storedToken(): string | null {
  const stored = localStore.read(CLIENT_TOKEN_KEY)
  return stored !== null && ACCEPTED.test(stored) ? stored : null
}
