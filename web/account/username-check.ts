import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { usernameProblem } from '../../contract/account-rules.ts'
import { USERNAME_MAX, USERNAME_MIN } from '../../contract/constants.ts'
import { CallError } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { checkUsername } from './account.queries.ts'

/** `waiting` with a message means that the check failed, so the form may still be sent. */
export type UsernameCheck = {
  state: 'waiting' | 'checking' | 'verified' | 'unverified'
  message?: string
}

const PROBLEMS = {
  empty: 'Введите имя пользователя',
  short: `Имя пользователя должно быть не меньше ${USERNAME_MIN} символов`,
  long: `Имя пользователя должно быть не большое ${USERNAME_MAX} символов`,
  characters: 'Введите корректное имя пользователя',
}

/** Checks a name in the browser. Returns null if only the server can decide. */
export function checkInBrowser(username: string, own: string): UsernameCheck | null {
  if (username === own) return { state: 'waiting' }
  const problem = usernameProblem(username)
  return problem ? { state: 'unverified', message: PROBLEMS[problem] } : null
}

export function maySave(check: UsernameCheck): boolean {
  return check.state === 'verified' || (check.state === 'waiting' && check.message !== undefined)
}

const PAUSE_MS = 500

/** Checks a name in the browser at once, and on the server after a pause of 500 ms. */
export function useUsernameCheck(username: string, own: string): UsernameCheck {
  const inBrowser = checkInBrowser(username, own)
  const settled = useSettled(username)
  const { data, error, isFetching } = useQuery({
    queryKey: ['username', username],
    queryFn: ({ signal }) => checkUsername(username, signal).then(() => true),
    enabled: inBrowser === null && settled === username,
    retry: false,
    refetchOnReconnect: true,
    gcTime: 0,
  })
  if (inBrowser) return inBrowser
  if (isFetching) return { state: 'checking' }
  if (!error) return { state: data ? 'verified' : 'waiting' }
  const isRefused = error instanceof CallError && error.status === 400
  return { state: isRefused ? 'unverified' : 'waiting', message: errorMessage(error) }
}

/** Returns the name after it has stayed unchanged for the pause. */
function useSettled(username: string): string {
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(username), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [username])
  return settled
}
