import { type Person, selectPeople } from '../server/features/moderation/people.repository.ts'
import type { Context } from './command.ts'
import { Refusal } from './command-errors.ts'

/** Throws Refusal if there is no such user, or if a name of digits is another's id. */
export async function requirePerson(context: Pick<Context, 'db'>, known: string): Promise<Person> {
  const person = await findPerson(context, known)
  if (!person) throw new Refusal(`Пользователя ${known} нет.`)
  return person
}

/** Returns undefined without a user. Throws Refusal if the words name either of two. */
export async function findPerson(
  { db }: Pick<Context, 'db'>,
  known: string,
): Promise<Person | undefined> {
  const people = await selectPeople(db, known)
  if (people.length > 1) {
    const emails = people.map(({ username, id, email }) => `${username} (${id}) — ${email}`)
    throw new Refusal(
      `«${known}» — имя одного и номер другого. Назовите человека почтой: ${emails.join('; ')}.`,
    )
  }
  return people[0]
}
