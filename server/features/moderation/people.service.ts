import type { Queryable } from '../../kernel/db/database.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'
import { selectPossibleTwins } from './blocks.repository.ts'
import {
  type Newcomer,
  type NewcomersPage,
  selectNewcomers,
  selectOfNetwork,
} from './people.repository.ts'

/** How many other accounts there are, and the usernames of some. */
export type Others = { total: number; usernames: string[] }
/** With other accounts that may be the same person's. */
export type Suspect = Newcomer & { sameMailbox: Others; sameNetwork: Others }

const NAMED_MAX = 5

/** Reads who registered, the newest first, and how many there are from the first of them on. */
export async function readNewcomers(
  db: Queryable,
  page: NewcomersPage,
): Promise<{ newcomers: Suspect[]; total: number }> {
  const { newcomers, total } = await selectNewcomers(db, page)
  const ids = newcomers.map(({ id }) => id)
  const emails = newcomers.map(({ email }) => email)
  const ofNetwork = Map.groupBy(await selectOfNetwork(db, ids), ({ of_id }) => of_id)
  const twins = await selectPossibleTwins(db, emails)
  const byMailbox = Map.groupBy(twins, ({ email }) => mailboxOf(email))
  const suspects = newcomers.map((user) => ({
    ...user,
    sameMailbox: othersOf(byMailbox.get(mailboxOf(user.email))?.filter(({ id }) => id !== user.id)),
    sameNetwork: othersOf(ofNetwork.get(user.id)),
  }))
  return { newcomers: suspects, total }
}

function othersOf(users: { username: string }[] = []): Others {
  const usernames = users.slice(0, NAMED_MAX).map(({ username }) => username)
  return { total: users.length, usernames }
}
