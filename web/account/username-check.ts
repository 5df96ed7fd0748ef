import { USERNAME_MAX, USERNAME_MIN } from '../../contract/constants.ts'
import { usernameProblem } from '../../contract/username.ts'

/**
 * What is known of a username as typed: `verified` is free, `unverified` cannot be taken. A check that could not be made
 * goes on waiting, with the reason: it says nothing of the name, so the form may still be sent.
 */
export type UsernameCheck =
  | { state: 'waiting'; message?: string }
  | { state: 'checking' }
  | { state: 'verified' }
  | { state: 'unverified'; message: string }

const PROBLEMS = {
  empty: 'Введите имя пользователя',
  short: `Имя пользователя должно быть не меньше ${USERNAME_MIN} символов`,
  long: `Имя пользователя должно быть не большое ${USERNAME_MAX} символов`,
  characters: 'Введите корректное имя пользователя',
}

/** What can be said before the server is asked; null when only the server knows. The viewer's own name says nothing. */
export function checkHere(username: string, own: string): UsernameCheck | null {
  if (username === own) return { state: 'waiting' }
  const problem = usernameProblem(username)
  return problem ? { state: 'unverified', message: PROBLEMS[problem] } : null
}

/** Whether the form may be sent: the name is free, or the server will judge it then. */
export function maySave(check: UsernameCheck): boolean {
  return check.state === 'verified' || (check.state === 'waiting' && check.message !== undefined)
}
