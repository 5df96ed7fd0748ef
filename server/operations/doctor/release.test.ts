import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { runHere } from '../../testing/process/run-command.ts'
import { checkRelease, readOwnRelease } from './release.ts'

test('a release older than 90 days is named with where newer ones are; a younger one and a checkout are fine', async () => {
  const root = await folderForTest()
  const now = new Date('2026-12-01T12:00Z')
  expect(checkRelease(await readOwnRelease(root), now).level).toBe('ok')
  await writeFile(join(root, 'released'), '2026-09-03\n')
  expect(checkRelease(await readOwnRelease(root), now)).toEqual({
    level: 'ok',
    message: expect.stringMatching(/^версия \S+ выпущена 3\sсентября\s2026$/),
  })
  await writeFile(join(root, 'released'), '2026-09-01\n')
  const own = checkRelease(await readOwnRelease(root), now)
  expect(own.level).toBe('warning')
  expect(own.fix).toContain('соберите её: docs/upgrading.md')
  await writeFile(join(root, 'repository'), 'somebody/vslukh\n')
  const { message, fix } = checkRelease(await readOwnRelease(root), now)
  expect(message).toMatch(/выпущена 1\sсентября\s2026, больше 90 дней назад$/)
  expect(fix).toBe('Посмотрите, нет ли новой: https://github.com/somebody/vslukh/releases')
})

test('vslukh upgrade --check changes nothing and says where releases are', async () => {
  const { code, out } = await runHere({}, ['upgrade', '--check'])
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^Версия \S+ запущена не из выпуска\.\nВыпуски: там, откуда/),
  })
})
