import { expect, test } from 'vitest'
import { GONE, type History, judge, type Read, type Write } from './judge-history.ts'

const POST = 7
const LATER_POST = 8
const LIST = { list: { from: 0 } }

/** Each operation takes 10 ms. */
function wrote(began: number, version: number, more: Partial<Write> = {}): Write {
  const base = { client: 'Ольга', node: 0, began, ended: began + 10, post: POST }
  return { ...base, wrote: version, ...more }
}

function saw(began: number, version: number, more: Partial<Read> = {}): Read {
  const base = { client: 'Пётр', node: 0, began, ended: began + 10, isStale: false }
  return { ...base, saw: new Map([[POST, version]]), ...more }
}

const found = (history: History) =>
  judge(history).map(({ promise, post, saw, expected }) => [promise, post, saw, expected])

test('reads that show each write once it was acknowledged keep every promise', () => {
  const history = [
    wrote(0, 1),
    saw(10, 1, { client: 'Ольга', node: 1 }),
    saw(20, 1),
    wrote(30, 2),
    wrote(50, 1, { post: LATER_POST, client: 'Пётр' }),
    saw(60, 2, {
      saw: new Map([
        [POST, 2],
        [LATER_POST, 1],
      ]),
      ...LIST,
    }),
    wrote(70, GONE),
    saw(2000, 0),
    saw(2020, 0, { saw: new Map([[LATER_POST, 1]]), ...LIST, node: 1 }),
  ]
  expect(found(history)).toEqual([])
})

test('a writer who does not see their own write breaks read-your-writes, on any node', () => {
  for (const node of [0, 1]) {
    const history = [wrote(0, 1), wrote(10, 2), saw(20, 1, { client: 'Ольга', node })]
    expect(found(history)).toEqual([['read-your-writes', POST, 1, 2]])
  }
})

test('a list that lacks the reader’s own post breaks the promise too, if the post belongs to it', () => {
  const own = { client: 'Ольга', saw: new Map() }
  const missing = [['read-your-writes', POST, 0, 1]]
  expect(found([wrote(0, 1), saw(20, 0, { ...own, ...LIST })])).toEqual(missing)
  expect(found([wrote(0, 1), saw(20, 0, { ...own, list: { from: 0, by: 'Ольга' } })])).toEqual(
    missing,
  )
  expect(found([wrote(0, 1), saw(20, 0, { ...own, list: { from: POST + 1 } })])).toEqual([])
  expect(found([wrote(0, 1), saw(20, 0, { ...own, list: { from: 0, by: 'Пётр' } })])).toEqual([])
})

test('a reader may see an older version for a second, on any node, but not longer', () => {
  const seen = [wrote(0, 1), wrote(10, 2, { ended: GONE }), saw(20, 2)]
  for (const node of [0, 1]) {
    expect(found([...seen, saw(1029, 1, { node })])).toEqual([])
    expect(found([...seen, saw(1030, 1, { node })])).toEqual([['monotonic reads', POST, 1, 2]])
  }
})

test('a version counts as seen from its first sight on, whatever was seen since', () => {
  const seen = [wrote(0, 1), wrote(10, 2, { ended: GONE }), saw(20, 2)]
  for (const version of [1, 2]) {
    const since = saw(900, version, { node: 1 })
    expect(found([...seen, since, saw(1030, 1)])).toEqual([['monotonic reads', POST, 1, 2]])
  }
})

test('a deleted post that was seen to be missing may reappear for a second, but not longer', () => {
  const history = [wrote(0, 1), wrote(1010, GONE, { ended: GONE }), saw(1020, 0)]
  expect(found([...history, saw(2029, 1)])).toEqual([])
  expect(found([...history, saw(2030, 1)])).toEqual([['monotonic reads', POST, 1, GONE]])
})

test('a missing post that need not show yet does not count as seen deleted, even if its deletion was requested', () => {
  const asked = [wrote(0, 1), wrote(10, GONE, { ended: 9000 })]
  expect(found([...asked, saw(20, 0), saw(40, 1)])).toEqual([])
  // From before an outage, and from before the post.
  const stale = saw(2000, 0, { saw: new Map(), ...LIST, isStale: true })
  expect(found([...asked, stale, saw(2020, 1)])).toEqual([])
})

test('an acknowledged write that no reader sees a second later was lost', () => {
  const lost = [['no acknowledged write lost', POST, 0, 1]]
  expect(found([wrote(0, 1), saw(1009, 0)])).toEqual([])
  expect(found([wrote(0, 1), saw(1010, 0)])).toEqual(lost)
  expect(found([wrote(0, 1), saw(1010, 0, { saw: new Map(), ...LIST })])).toEqual(lost)
  expect(found([wrote(0, 1, { ended: Number.POSITIVE_INFINITY }), saw(5000, 0)])).toEqual([])
})

test('an acknowledged deletion that is undone was lost', () => {
  const history = [wrote(0, 1), wrote(10, GONE), saw(1020, 1)]
  expect(found(history)).toEqual([['no acknowledged write lost', POST, 1, GONE]])
})

test('a list that shows the later post without the earlier one is out of order, even if it is stale', () => {
  const later = wrote(10, 1, { post: LATER_POST, client: 'Пётр' })
  for (const isStale of [false, true]) {
    const list = { saw: new Map([[LATER_POST, 1]]), ...LIST, client: 'Анна', isStale }
    expect(found([wrote(0, 1, { ended: 9 }), later, saw(20, 0, list)])).toEqual([
      ['who sees the later sees the earlier', POST, 0, 1],
    ])
    // It was not acknowledged when the later post was asked for.
    expect(found([wrote(0, 1), later, saw(20, 0, list)])).toEqual([])
  }
})

test('an answer that is marked as stale may be older than the others', () => {
  const old = { isStale: true, client: 'Анна' }
  expect(found([wrote(0, 1), wrote(10, 2), saw(20, 2, old), saw(5000, 1, old)])).toEqual([])
})
