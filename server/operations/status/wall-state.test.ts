import { expect, test } from 'vitest'
import { signUpModerator } from '../../testing/calls/moderation-calls.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { envOf, runHere } from '../../testing/process/run-command.ts'
import { appForTest } from '../../testing/test-app.ts'
import type { StateLine } from './wall-state.service.ts'

type State = { lines: StateLine[] }

test('moderators see in one line each whether mail, copies, disk, database and version are well, and the command that mends what is not', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  await app.sql`UPDATE installation SET counter_differences = 3, counters_checked_at = now(),
    backup_at = now(), backup_bytes = 1024, backup_verified_at = now() - interval '20 days'`
  const { lines }: State = await app.read('/moderation/state', moderator)
  expect(lines.map(({ name, level }) => [name, level])).toEqual([
    ['Почта', 'ok'],
    ['Копии', 'warning'],
    ['Диск', expect.any(String)],
    ['База данных', 'broken'],
    ['Версия', expect.any(String)],
  ])
  const named = Object.fromEntries(lines.map((line) => [line.name, line]))
  expect(named['База данных']).toMatchObject({
    message: expect.stringContaining('расхождений: 3'),
    fix: expect.stringContaining('vslukh recount'),
  })
  expect(named.Копии).toMatchObject({
    message: expect.stringContaining('давно не проверялись'),
    fix: 'Проверьте последнюю копию: vslukh verify',
  })
  expect(named.Почта?.fix).toBe(null)
  expect(named.Диск?.message).toContain('DATA_DIR')
  const said = JSON.stringify(lines.map(({ message }) => message))
  for (const secret of [app.dataDir, app.databaseUrl]) expect(said).not.toContain(secret)

  const env = { ...envOf(app), DATA_DIR: app.dataDir }
  const status = await runHere(env, ['status', '--json'])
  const levels = (state: StateLine[]) => state.map(({ name, level }) => [name, level])
  expect(levels(JSON.parse(status.out).state)).toEqual(levels(lines))
  const printed = (await runHere(env, ['status'])).out
  expect(printed).toMatch(/^Состояние: {2}копии: .*база данных: .*Как исправить: vslukh doctor$/m)
})

test('nobody else reads the state', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const read = (token?: string) => app.call('GET', '/moderation/state', { token })
  expectRefusal(await read(olga.token), 'NOT_FOUND')
  expectRefusal(await read(), 'NOT_FOUND')
})
