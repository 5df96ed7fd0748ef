import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isEndpoint } from '../../contract/endpoint.ts'
import { appForFile } from '../../server/testing/test-app.ts'
import { Player } from './play.ts'
import type { Trace } from './traces.ts'

/**
 * Holds the model of the door to the server: its calls are those of the contract, and over HTTP its
 * scenarios lead to the same sessions, tokens, addresses and links after each step.
 */

const HERE = import.meta.dirname
const CONTRACT = join(HERE, '../../contract')

/** The files of the contract whose calls decide who gets in; of the others none does. */
const DOOR = ['account-deletion', 'account', 'codes', 'passkeys', 'sessions', 'sign-in']
const ELSEWHERE = [
  ...['answers', 'data-export', 'likes', 'moderation', 'mutes', 'posts', 'replies', 'reports'],
  ...['search', 'texts', 'mentions'],
]

/** Calls of the door after which everybody holds what they held before. */
const CHANGE_NOTHING = [
  ...['readCurrentUser', 'readProfile', 'validateUsername', 'changeUsername'],
  ...['validateInvitation', 'readCodeMail', 'listSessions'],
  ...['listPasskeys', 'startPasskey', 'renamePasskey', 'startPasskeyLogin'],
]

/** Returns two lists of the model: its calls, and its steps that are no calls. */
function callsOfModel() {
  const model = readFileSync(join(HERE, 'door.als'), 'utf8')
  const [, listed = ''] = /enum Call \{([^}]*)\}/.exec(model) ?? []
  const [built = [], others = []] = listed
    .split(/\/\/ No calls.*\n/)
    .map((part): string[] => part.match(/\w+/g) ?? [])
  return { built, others }
}

/** Returns the names of the calls of each file of the contract that has any. */
async function callsOfContract(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const file of globSync('*.ts', { cwd: CONTRACT, exclude: ['*.test.ts'] })) {
    const exported: Record<string, unknown> = await import(join(CONTRACT, file))
    const calls = Object.keys(exported).filter((name) => isEndpoint(exported[name]))
    if (calls.length > 0) found.set(file.replace('.ts', ''), calls)
  }
  return found
}

test('every file of the contract is of the door or elsewhere', async () => {
  const files = [...(await callsOfContract()).keys()]
  expect(files.toSorted()).toEqual([...DOOR, ...ELSEWHERE].toSorted())
})

test('the calls of the model are those of the door that change what somebody holds', async () => {
  const contract = await callsOfContract()
  const door = DOOR.flatMap((file) => contract.get(file) ?? [])
  const { built } = callsOfModel()
  expect(door.toSorted()).toEqual([...built, ...CHANGE_NOTHING].toSorted())
})

const app = await appForFile()
const lines = readFileSync(join(HERE, 'traces.jsonl'), 'utf8').trimEnd().split('\n')
const traces: Trace[] = lines.map((line) => JSON.parse(line))

test('the scenarios have every call of the model that is built', () => {
  const played = new Set(traces.flatMap(({ steps }) => steps.map(({ call }) => call)))
  const { built, others } = callsOfModel()
  const all = [...built, ...others.filter((call) => call !== 'nothing')]
  expect([...played].filter((call) => call !== 'nothing').toSorted()).toEqual(all.toSorted())
})

test.each(traces)('$name: the server has after each step what the model has', async (trace) => {
  expect(await new Player(app, trace).play()).toBeUndefined()
})
