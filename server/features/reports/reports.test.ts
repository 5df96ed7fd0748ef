import { expect, test } from 'vitest'
import type { ReportReason } from '../../../contract/reports.ts'
import { passLimitTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

const app = await appForFile()
const olga = await app.signUp()
const petr = await app.signUp()
const reasons: ReportReason[] = (await app.read('/reports/reasons')).reasons

const report = (id: string, query: string) =>
  app.call('POST', `/posts/${id}/reports${query}`, { token: petr.token })
const because = (index: number) => `?reason_id=${reasons[index]?.id}`
const rowsOf = (id: string) =>
  app.sql`SELECT reporter_id, reason_id FROM reports WHERE post_id = ${id} ORDER BY id`

test('reporting twice with one reason changes nothing, also 20 times at once; another reason is another report, and both outlive the post', async () => {
  const { id } = await app.publish(olga)
  const answers = await atOnce(Array.from({ length: 20 }, () => () => report(id, because(0))))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]))
  expect(await rowsOf(id)).toHaveLength(1)
  expect((await report(id, because(1))).status).toBe(204)
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })
  expectRefusal(await report(id, because(1)), 'POST_NOT_FOUND')
  const { id: reporter_id } = petr
  expect(await rowsOf(id)).toEqual(
    reasons.slice(0, 2).map(({ id: reason_id }) => ({ reporter_id, reason_id })),
  )
})

test('an unknown reason is REASON_NOT_FOUND; a report without a reason or with two is INVALID_REQUEST', async () => {
  const { id } = await app.publish(olga)
  for (const reason of ['999999', '0', '-1', 'spam', '9'.repeat(30)]) {
    expectRefusal(await report(id, `?reason_id=${reason}`), 'REASON_NOT_FOUND')
  }
  for (const query of ['', '?reason_id=', '?reason_id=1&reason_id=2', '?reason_id=1&x=1']) {
    expectRefusal(await report(id, query), 'INVALID_REQUEST')
  }
  expect(await rowsOf(id)).toEqual([])
})

test('a comment that shows nothing counts as none; control characters are INVALID_REQUEST', async () => {
  const { id } = await app.publish(olga)
  const send = (comment: string) =>
    app.call('POST', `/posts/${id}/reports${because(7)}`, { token: petr.token, body: { comment } })
  expectRefusal(await send('\0'), 'INVALID_REQUEST')
  expect((await send('\u200b \u2060\n')).status).toBe(204)
  const { reports } = await app.read('/users/current/reports', petr)
  expect(reports[0]).toMatchObject({ postId: id, comment: null })
})

test('a user may make 30 reports and then one in two minutes, sooner gets 429 with Retry-After; refused reports are not counted', async () => {
  const strict = await appForTest({ config: { rateLimitScale: 1 } })
  const author = await strict.signUp()
  const [reporter, neighbour] = [await strict.signUp(), await strict.signUp()]
  const sameMailbox = await strict.signIn(reporter.email.replace('@', '+2@'))
  const { id } = await strict.publish(author)
  const send = (reason: string, { token } = reporter, post = id) =>
    strict.call('POST', `/posts/${post}/reports?reason_id=${reason}`, { token })
  for (let time = 0; time < 30; time++) {
    expect((await send(String((time % 8) + 1))).status).toBe(204)
    if (time % 10 === 0) {
      expectRefusal(await send('99'), 'REASON_NOT_FOUND')
      expectRefusal(await send('1', reporter, '999999'), 'POST_NOT_FOUND')
    }
  }
  for (const user of [reporter, sameMailbox]) {
    expectTooMany(await send('1', user), { least: 60, most: 120 })
  }
  expect((await send('1', neighbour)).status).toBe(204)
  await passLimitTime(strict, 120)
  expect((await send('1')).status).toBe(204)
})
