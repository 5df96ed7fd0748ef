import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { addToDeletionList, type ListedDeletions, pruneDeletions } from './deletion-list.service.ts'

const registeredAt = '2026-01-01T00:00:00.000000Z'
const onFailure = (cause: unknown) => {
  throw cause
}
const state = (id: number, deletedAt: string | null) => ({ id: `${id}`, registeredAt, deletedAt })
const line = (id: number, notedAt: string) =>
  `\n${JSON.stringify({ ...state(id, notedAt), notedAt })}\n`

async function listForTest(text = '') {
  const folder = await folderForTest()
  const path = join(folder, 'deletions.jsonl')
  if (text !== '') await writeFile(path, text)
  return {
    folder,
    path,
    ids: async () =>
      [...(await readFile(path, 'utf8')).matchAll(/"id":"(\d+)"/g)].map(([, id]) => id),
  }
}

test('a process notes each deletion and return once in every folder, and again in one that lost its list', async () => {
  const [one, other] = [await listForTest(), await listForTest()]
  const listed: ListedDeletions = new Map()
  const add = (...states: ReturnType<typeof state>[]) =>
    addToDeletionList(states, [one.folder, other.folder, '/nowhere'], { listed, onFailure })
  await add(state(1, '2026-02-01T00:00:00.000000Z'))
  await add(state(1, '2026-02-01T00:00:00.000000Z'))
  await add(state(1, null), state(2, '2026-03-01T00:00:00.000000Z'))
  expect(await one.ids()).toEqual(['1', '1', '2'])
  await rm(other.path)
  await add(state(1, null), state(2, '2026-03-01T00:00:00.000000Z'))
  expect(await one.ids()).toEqual(['1', '1', '2'])
  expect(await other.ids()).toEqual(['1', '2'])
})

test('deletions listed before the oldest backup are removed, and a line cut off by a crash spoils nothing', async () => {
  const { folder, ids } = await listForTest(
    `{"id":"9"${line(1, '2025-01-01T00:00:00.000Z')}${line(2, '2025-02-01T00:00:00.000Z')}${line(3, '2025-03-01T00:00:00.000Z')}`,
  )
  await pruneDeletions([folder, '/nowhere'], new Date('2025-01-01T00:00:00.000Z'))
  expect(await ids()).toEqual(['9', '1', '2', '3'])
  await pruneDeletions([folder], new Date('2025-02-15T00:00:00.000Z'))
  expect(await ids()).toEqual(['3'])
  await pruneDeletions([folder], new Date('2026-02-15T00:00:00.000Z'))
  expect(await ids()).toEqual([])
})
