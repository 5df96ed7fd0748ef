import type { State } from './alloy.ts'

export type Name = 'Owner' | 'Thief'

/** What happens, and what the model has afterwards. Atoms have the names of the model. */
export type Step = {
  call: string
  by: Name | undefined
  session: string | undefined
  about: string | undefined
  isLost: boolean
  after: Snapshot
}

export type Snapshot = {
  email: string
  elsewhere: string[]
  open: string[]
  isDeleted: boolean
  isErased: boolean
  live: string[]
  /** The changes that have a row, live or not. */
  changes: string[]
  passkeys: string[]
  tokens: Held
}

type Held = Record<Name, string[]>

/** A scenario of the model. */
export type Trace = {
  name: string
  before: Snapshot
  cookies: Held
  steps: Step[]
}

export function traceOf(states: State[], name: string): Trace {
  const first = states[0] ?? new Map()
  const steps = states.slice(0, -1).map((state, n) => stepOf(state, states[n + 1] ?? state))
  const lastMove = steps.findLastIndex(({ call }) => call !== 'nothing')
  return {
    name,
    before: snapshotOf(first),
    cookies: heldIn(first, 'current'),
    steps: steps.slice(0, lastMove + 1),
  }
}

function stepOf(state: State, next: State): Step {
  const [call = ''] = lastOf(state, 'call')
  const [by] = lastOf(state, 'by')
  const [session] = lastOf(state, 'with')
  const [about] = lastOf(state, 'about')
  const isLost = lastOf(state, 'answer').includes('Lost')
  return { call, by: by as Name | undefined, session, about, isLost, after: snapshotOf(next) }
}

function snapshotOf(state: State): Snapshot {
  return {
    email: lastOf(state, 'email')[0] ?? '',
    elsewhere: lastOf(state, 'elsewhere'),
    open: state.get('Open') ?? [],
    isDeleted: (state.get('Deleted') ?? []).length > 0,
    isErased: (state.get('Erased') ?? []).length > 0,
    live: firstOf(state, 'left'),
    changes: firstOf(state, 'old'),
    passkeys: state.get('Stored') ?? [],
    tokens: heldIn(state, 'token'),
  }
}

function heldIn(state: State, field: string): Held {
  const of = (name: Name) =>
    (state.get(field) ?? []).flatMap((tuple) => {
      const [holder, held = ''] = tuple.split('>')
      return holder?.startsWith(name) ? [held] : []
    })
  return { Owner: of('Owner'), Thief: of('Thief') }
}

/** Atoms of which there is one have no number. */
const plain = (atom: string) =>
  /^(Session|Change|Passkey)/.test(atom) ? atom : atom.replace(/\d$/, '')

const lastOf = (state: State, field: string) =>
  (state.get(field) ?? []).map((tuple) => plain(tuple.split('>').at(-1) ?? ''))
const firstOf = (state: State, field: string) =>
  (state.get(field) ?? []).map((tuple) => tuple.split('>')[0] ?? '')
