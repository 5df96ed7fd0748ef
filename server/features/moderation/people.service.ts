import type { Queryable } from '../../kernel/db/database.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'
import type { NewcomersPage, Person } from './people.repository.ts'
import { selectNewcomers, selectOfMailboxes, selectOfNetwork } from './people.repository.ts'

export type Accounts = { total: number; usernames: string[] }
/** With other accounts that may be the same person's. */
export type Newcomer = Person & { sameMailbox: Accounts; sameNetwork: Accounts }

const NAMED_MAX = 5

/** Reads who registered, the newest first, and how many there are from the first of them on. */
export async function readNewcomers(
  db: Queryable,
  page: NewcomersPage,
): Promise<{ newcomers: Newcomer[]; total: number }> {
  const { people, total } = await selectNewcomers(db, page)
  const ids = people.map(({ id }) => id)
  const mailboxes = people.map(({ email }) => mailboxOf(email))
  const twins = await selectOfMailboxes(db, mailboxes)
  const byMailbox = Map.groupBy(twins, ({ email }) => mailboxOf(email))
  const ofNetwork = Map.groupBy(await selectOfNetwork(db, ids), ({ of_id }) => of_id)
  const newcomers = people.map((person) => {
    const mailbox = byMailbox.get(mailboxOf(person.email)) ?? []
    const others = mailbox.filter(({ id }) => id !== person.id)
    const network = ofNetwork.get(person.id) ?? []
    return { ...person, sameMailbox: someOf(others), sameNetwork: someOf(network) }
  })
  return { newcomers, total }
}

function someOf(users: { username: string }[]): Accounts {
  const usernames = users.slice(0, NAMED_MAX).map(({ username }) => username)
  return { total: users.length, usernames }
}
