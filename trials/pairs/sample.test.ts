import { afterAll, expect, test } from 'vitest'
import { buildWall, runPair } from './run-pair.ts'
import { PAIRS } from './writes.ts'

const SAMPLE = [
  'like × unlike',
  'like × delete',
  'unlike × delete',
  'reply × delete',
  'reply × edit',
  'publish with a key × publish with a key',
  'mention × reply and mention',
  'reply and mention × mention by an edit',
  'change the e-mail × change of another to it',
  'change the e-mail × undo the change of e-mail',
  'register × register in another browser',
  'remove a passkey × remove a passkey',
  'sign in with a passkey × undo the removal of a passkey',
  'rename a passkey × undo the removal of a passkey',
]

const wall = await buildWall()
afterAll(() => wall.lab.close())

/** A few orders of a few pairs of `npm run test:pairs`. */
test.for(SAMPLE)('%s: as one after the other, in some orders', async (name) => {
  const pair = PAIRS.find((one) => one.name === name)
  if (!pair) throw new Error(`${name} is no pair`)
  expect((await runPair(wall, pair, 20)).faults).toEqual([])
})
