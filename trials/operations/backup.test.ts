import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { startMain } from '../../server/testing/process/start-main.ts'
import { EMAIL, startWall } from '../../server/testing/process/start-wall.ts'
import { ROOT, run } from './deploy-file.ts'

test('a backup without the secret, a verification that the wall notes, and a dry run of a restore', async () => {
  const folder = await folderForTest()
  const env = { DATA_DIR: join(folder, 'data') }
  const wall = await startWall(env)
  await wall.client.signIn(EMAIL)
  expect(await readFile(join(env.DATA_DIR, 'READ-ME.txt'), 'utf8')).toContain(
    'Не копируйте эту папку',
  )
  const [older, bare] = [join(folder, 'older.backup'), join(folder, 'bare.backup')]
  expect(await runCommand(env, 'backup', older)).toMatchObject({ code: 0 })
  expect((await runCommand(env, 'status')).out).toContain('ещё не проверялась')
  const made = JSON.parse((await runCommand(env, 'backup', bare, '--without-secret', '--json')).out)
  expect(made).toMatchObject({ hasSecret: false })

  const isNoted = async (file: string) =>
    JSON.parse((await runCommand(env, 'verify', file, '--json')).out).isNoted
  expect(await isNoted(older)).toBe(false)
  expect((await runCommand(env, 'status')).out).toContain('ещё не проверялась')
  expect(await isNoted(bare)).toBe(true)
  expect((await runCommand(env, 'status')).out).toMatch(/, проверялась \d/)
  await wall.stop()
  const away = { DATABASE_URL: 'postgresql://x@127.0.0.1:1/x', APP_SECRET: 's'.repeat(32) }
  const unnoted = await runCommand(away, 'verify', bare)
  expect(unnoted).toMatchObject({ code: 0, out: expect.stringContaining('Копия верна') })
  expect(unnoted.err).toContain('Проверка не отмечена. База данных не отвечает: там ничего не')

  const other = { DATA_DIR: join(folder, 'other') }
  await (await startMain(other)).stop()
  const secretOf = ({ DATA_DIR }: typeof env) => readFile(join(DATA_DIR, 'app-secret'), 'utf8')
  const [own, others] = [await secretOf(env), await secretOf(other)]
  expect(await runCommand(other, 'restore', older, '--replace', '--yes')).toMatchObject({ code: 0 })
  expect(await secretOf(other)).toBe(own)
  const files = await readdir(other.DATA_DIR)
  const old = files.find((name) => name.startsWith('app-secret.old-')) ?? ''
  expect(await readFile(join(other.DATA_DIR, old), 'utf8')).toBe(others)

  const third = { DATA_DIR: join(folder, 'third') }
  const possible = await runCommand(third, 'restore', bare, '--dry-run')
  expect(possible.out).toMatch(/^Стену можно вернуть из копии/)
  await expect(readdir(third.DATA_DIR)).rejects.toThrow('ENOENT')
  const restored = await runCommand(third, 'restore', bare)
  expect(restored).toMatchObject({ code: 0, out: expect.stringContaining('Секрета в копии нет') })
})

const ERASE = '\r\u001b[K'

test('a terminal shows the progress of a backup in one line, also if a script reads the output, and nothing of it stays', async () => {
  const env = { DATA_DIR: join(await folderForTest(), 'data') }
  await startWall(env)
  const backUp = `${ROOT}/bin/vslukh backup ${await folderForTest()}`
  const inTerminal = async (line: string) =>
    (await run('script', ['-qec', line, '/dev/null'], { env: { ...process.env, ...env } })).stdout
  for (const line of [backUp, `echo "$(${backUp})"`]) {
    const [nothing, first, ...rest] = (await inTerminal(line)).split(ERASE)
    expect([nothing, first, rest.at(-1)]).toEqual([
      '',
      expect.stringMatching(/^Копируем: \d+/),
      expect.stringMatching(/^Копия: .*\r\n$/),
    ])
  }
  expect(await inTerminal(`${backUp} 2>/dev/null | cat`)).toMatch(/^Копия: .*\r\n$/)
})
