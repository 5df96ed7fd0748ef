import { API_PREFIX } from '../../contract/constants.ts'
import { DEVICE } from '../../server/testing/http/client.ts'

/** A browser of a person: what it stores, and what the model expects of its session. */
export type Device = {
  n: number
  ip: string
  clientToken: string
  cookies: Map<string, string>
  token: string | undefined
  tokenAt: number
  /** How often the server had started when the token was issued. */
  tokenOfStart: number
  isSignedIn: boolean
  signedInAt: number
  usedAt: number
  /** Why the server must refuse its session; undefined if it must not. */
  closedBecause: string | undefined
}

/** The status is 0 if there was no answer. */
export type Answer = {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the server's own tests verify the shapes
  body: any
}

type Sent = { body?: unknown; headers?: Record<string, string> }

export function newDevice(n: number, ip: string): Device {
  return {
    ...{ n, ip, clientToken: `device-${n}-of-the-month`, cookies: new Map(), token: undefined },
    ...{ tokenAt: 0, tokenOfStart: 0, isSignedIn: false, signedInAt: 0, usedAt: 0 },
    closedBecause: undefined,
  }
}

/** Calls the API as a browser does. Never rejects. */
export async function callBy(
  { url }: { url: string },
  device: Device,
  method: string,
  path: string,
  { body, headers }: Sent = {},
): Promise<Answer> {
  const cookie = [...device.cookies].map((pair) => pair.join('=')).join('; ')
  try {
    const response = await fetch(`${url}${API_PREFIX}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        'x-forwarded-for': device.ip,
        origin: url,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(cookie && { cookie }),
        ...(device.token && { authorization: `Bearer ${device.token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) keepCookie(device, line)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, body: isJson && text ? JSON.parse(text) : text }
  } catch (error) {
    return { status: 0, body: String((error as Error).cause ?? error) }
  }
}

function keepCookie({ cookies }: Device, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
  if (value === '' || /max-age=0\b/i.test(line)) cookies.delete(name)
  else cookies.set(name, value)
}

export const isOk = ({ status }: Answer) => status >= 200 && status < 300
/** Whether the call may have happened all the same. */
export const isUnsure = ({ status }: Answer) => status === 0 || status >= 500

/** Starts a code operation; its path is `/logins` or `/registrations`. */
export const startBody = (device: Device, email: string) => ({
  ...{ email, clientToken: device.clientToken },
  device: DEVICE,
})

/** Returns the id of the session whose cookie the browser has. */
export function sessionIdOf({ cookies }: Device): string | undefined {
  const [, value] = [...cookies].find(([name]) => /session/.test(name)) ?? []
  return value?.split('.')[0]
}
