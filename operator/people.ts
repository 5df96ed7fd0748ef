import { selectByUsername } from '../server/features/account/usernames.repository.ts'
import type { Accounts, Person } from '../server/features/moderation/people.repository.ts'
import { selectNewcomers, selectPeople } from '../server/features/moderation/people.repository.ts'
import { formatOperatorTime } from '../server/kernel/errors/words.ts'
import type { Command, Context, Output } from './command.ts'
import { listOutput, Refusal } from './command.ts'
import { ENTRIES_PER_PAGE } from './format.ts'
import { durationText } from './options.ts'

const DAY_SECONDS = 86_400

export const people: Command = {
  summary: 'кто зарегистрировался: записи, жалобы, другие аккаунты того же ящика и той же сети',
  needs: 'wall',
  forms: { 'people [--since 1d] [--before НОМЕР]': list },
}

async function list({ db, options }: Context): Promise<Output> {
  const { since: seconds = DAY_SECONDS, before } = options
  const { people: newcomers, total } = await selectNewcomers(db, {
    seconds,
    before,
    limit: ENTRIES_PER_PAGE,
  })
  const rest = total - newcomers.length
  const since = durationText(seconds)
  const next = rest > 0 ? newcomers.at(-1)?.id : undefined
  const more = `… и ещё ${rest}. Дальше: vslukh people --since ${since} --before ${next}`
  const lines = [...newcomers.flatMap(linesOf), ...(next === undefined ? [] : [more])]
  const json = { people: newcomers, total, next: next ?? null }
  return listOutput(lines, 'За это время никто не зарегистрировался.', json)
}

function linesOf(user: Person): string[] {
  const state = user.is_deleted
    ? ', аккаунт удалён'
    : user.block_reason === null
      ? ''
      : ', не может писать'
  const open = user.reported - user.removed - user.kept
  const others = [
    ...listAccounts('тот же ящик', user.sameMailbox),
    ...listAccounts('та же сеть в те же сутки', user.sameNetwork),
  ]
  return [
    `${user.username} (${user.id}), ${user.email}, с ${formatOperatorTime(user.created_at)}${state}`,
    `    записей: ${user.posts}, ответов: ${user.replies}, скрыто: ${user.hidden}; ` +
      `жалоб: ${user.reported}, открыто: ${open}; последний визит: ${formatOperatorTime(user.seen_at)}`,
    ...(others.length > 0 ? [`    ${others.join('; ')}`] : []),
  ]
}

function listAccounts(what: string, { usernames, total }: Accounts): string[] {
  if (total === 0) return []
  const rest = total - usernames.length
  return [`${what}: ${usernames.join(', ')}${rest > 0 ? ` и ещё ${rest}` : ''}`]
}

type Searching = Pick<Context, 'db' | 'say'>

/** Finds a user by name, e-mail address or id. Throws Refusal if there is none, or two. */
export async function requirePerson(context: Searching, words: string): Promise<Person> {
  const person = await findPerson(context, words)
  if (!person) throw new Refusal(`Пользователя ${words} нет.`)
  return person
}

/** Finds a user like requirePerson(), but returns undefined if there is none. */
export async function findPerson(
  { db, say }: Searching,
  words: string,
): Promise<Person | undefined> {
  const people = await selectPeople(db, words)
  if (people.length > 1) {
    const emails = people.map(({ username, id, email }) => `${username} (${id}) — ${email}`)
    throw new Refusal(
      `«${words}» — имя одного и номер другого. Назовите человека почтой: ${emails.join('; ')}.`,
    )
  }
  const former = people[0] ? undefined : await selectByUsername(db, words)
  if (!former) return people[0]
  say(`${words} — прежнее имя пользователя ${former.username}.`)
  return (await selectPeople(db, former.id)).find(({ id }) => id === former.id)
}
