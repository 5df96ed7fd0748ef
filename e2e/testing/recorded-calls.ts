/** The outcome of a call: a complete answer, no answer, or one that was cut off. */
export type Outcome = {
  call: string
  status: number | 'none' | 'cut'
  retryAfter: string | null
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  body: any
  /** Milliseconds of Date.now(). */
  began: number
  ended: number
}

type Sent = {
  token?: string
  body?: object
  headers?: Record<string, string>
  isPage?: boolean
}

/** The product may die at any moment. Paths are below /api/v1, except for pages. */
export function recordCalls(url: string, { freshConnections = false } = {}) {
  const outcomes: Outcome[] = []

  async function call(method: string, path: string, sent: Sent = {}): Promise<Outcome> {
    const kind = sent.isPage ? 'page ' : ''
    const name = `${method} ${kind}${path.replace(/\d+/, ':id')}${sent.token ? '' : ' by a visitor'}`
    const began = Date.now()
    const outcome: Outcome = {
      ...{ call: name, status: 'none', retryAfter: null, body: undefined },
      ...{ began, ended: began },
    }
    try {
      const response = await fetch(`${url}${sent.isPage ? '' : '/api/v1'}${path}`, {
        method,
        headers: headersOf(sent, freshConnections),
        ...(sent.body && { body: JSON.stringify(sent.body) }),
      })
      outcome.status = 'cut'
      const text = await response.text()
      // For a dead node, a load balancer answers in HTML.
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      outcome.body = isJson ? JSON.parse(text) : undefined
      outcome.status = response.status
      outcome.retryAfter = response.headers.get('retry-after')
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    outcome.ended = Date.now()
    outcomes.push(outcome)
    return outcome
  }

  return { call, outcomes }
}

function headersOf({ token, body, headers }: Sent, freshConnections: boolean) {
  return {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/json' }),
    ...(freshConnections && { connection: 'close' }),
    ...headers,
  }
}
