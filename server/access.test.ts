import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Caller, callOf, TABLE } from './access.fixture.ts'
import {
  type AccountFixture,
  createAccountFixture,
  readOwnedRows,
} from './testing/calls/account-fixture.ts'
import { signUpModerator } from './testing/calls/moderation-calls.ts'
import { allEndpoints } from './testing/http/endpoints.ts'
import { appForFile } from './testing/test-app.ts'

// On a busy machine the file takes longer than an access token lives by default.
const app = await appForFile({ config: { accessTokenSeconds: 3600 } })
const [stranger, moderator] = [await app.signUp(), await signUpModerator(app)]
const sharedHouse = await createAccountFixture(app)
const owned = await readOwnedRows(app, sharedHouse)

const CELLS = Object.entries(TABLE).flatMap(([name, row]) =>
  (['owner', 'other', 'visitor', 'moderator'] as const).flatMap((who) => {
    const is = row[who]
    return is === undefined ? [] : [{ name, who, is }]
  }),
)

async function answerTo(
  { name }: (typeof CELLS)[number],
  { fixture, caller, headers }: { fixture: AccountFixture; caller: Caller; headers?: object },
): Promise<string> {
  const [method, path, sent] = callOf(name, fixture, caller)
  const { status, body } = await app.call(method, path, {
    ...sent,
    headers: { ...sent.headers, ...headers },
  })
  return [status, body?.code].filter(Boolean).join(' ')
}

test('the table says for every call of the contract what it returns to the owner, another user and a visitor', async () => {
  expect(Object.keys(TABLE).sort()).toEqual([...(await allEndpoints()).keys()].sort())
})

/** Calls change one account after another: one of these ends what a later call needs. */
const ENDING = /^DELETE|verify$/
let changing: AccountFixture | undefined

test.each(CELLS)('$name returns to the $who: $is', async (cell) => {
  const { name, who, is } = cell
  const isWrite = /^2/.test(is) && !name.startsWith('GET')
  const isChanging = isWrite && (who === 'owner' || who === 'moderator')
  if (isChanging) changing ??= await createAccountFixture(app)
  const fixture = isChanging && changing ? changing : sharedHouse
  const other = isWrite && who === 'other' ? await app.signUp() : stranger
  const visitor: Caller = { clientToken: randomUUID() }
  const caller: Caller = { owner: fixture.owner, other, visitor, moderator }[who]
  expect(await answerTo(cell, { fixture, caller })).toBe(is)
  if (isChanging && ENDING.test(name)) changing = undefined
})

const WRITES = CELLS.filter(
  ({ name, who, is }) => who === 'owner' && /^2/.test(is) && !/^GET|sessions.current$/.test(name),
)

test.each(WRITES)('$name does nothing if another account has begun it', async (cell) => {
  const by = { fixture: sharedHouse, caller: sharedHouse.owner }
  for (const startedBy of [randomUUID(), '']) {
    const headers = { 'x-user': startedBy }
    expect(await answerTo(cell, { ...by, headers })).toBe('409 OTHER_ACCOUNT')
  }
})

test('none of these calls has changed anything of the owner of the first account', async () => {
  expect(await readOwnedRows(app, sharedHouse)).toEqual(owned)
})

test('a write of a closed session is refused for that, whichever account has begun it', async () => {
  const { token } = await app.signUp()
  await app.call('DELETE', '/sessions/current', { token })
  const sent = { token, body: { text: 'Запись' }, headers: { 'x-user': randomUUID() } }
  expect((await app.call('POST', '/posts', sent)).status).toBe(401)
})
