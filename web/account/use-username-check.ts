import { useEffect, useState } from 'react'
import { CallError, call } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { checkHere, type UsernameCheck } from './username-check.ts'

const PAUSE_MS = 500

type Asked = { username: string; check: UsernameCheck }

/** Checks a username as it is typed: at once what can be told here, after a pause of 500 ms by the server. */
export function useUsernameCheck(username: string, own: string): UsernameCheck {
  const [asked, setAsked] = useState<Asked | null>(null)
  const here = checkHere(username, own)
  const asking = here === null

  useEffect(() => {
    if (!asking) return
    const leaving = new AbortController()
    const ask = async () => {
      const tell = (check: UsernameCheck) => {
        if (!leaving.signal.aborted) setAsked({ username, check })
      }
      tell({ state: 'checking' })
      tell(await askServer(username, leaving.signal))
    }
    const timer = setTimeout(ask, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [username, asking])

  return here ?? (asked?.username === username ? asked.check : { state: 'waiting' })
}

async function askServer(username: string, signal: AbortSignal): Promise<UsernameCheck> {
  try {
    await call('GET /users/:username/validation', { params: { username } }, { signal })
    return { state: 'verified' }
  } catch (error) {
    if (signal.aborted) return { state: 'waiting' }
    const judged = error instanceof CallError && error.status === 400
    return { state: judged ? 'unverified' : 'waiting', message: errorMessage(error) }
  }
}
