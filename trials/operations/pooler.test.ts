import { expect, onTestFinished, test } from 'vitest'
import { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { signUpUsers, startProductForTest } from '../../e2e/testing/product.ts'
import { simulateUsers } from '../../e2e/testing/simulated-users.ts'
import { PAST_CACHE } from '../../server/testing/client.ts'
import { databaseForTest } from '../../server/testing/database-for-test.ts'
import { executeOn } from '../../server/testing/databases.ts'
import { examine } from '../../server/testing/examined-wall.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'
import { startMain } from '../../server/testing/start-main.ts'
import { startPooler } from './pooler.ts'

test('two nodes behind PgBouncer in transaction mode: every call is answered, changes reach the other node, mails go out, and a statement ends after 3 s', async () => {
  const directUrl = await databaseForTest()
  const pooler = await startPooler(directUrl)
  const mailbox = await openMailbox()
  onTestFinished(mailbox.close)
  const startNode = async () => {
    const urls = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: directUrl, SMTP_URL: mailbox.url }
    const { product, client } = await startProductForTest({ env: urls })
    return { url: product.url, ...client }
  }
  const nodes = [await startNode(), await startNode()] as const
  const [one, other] = nodes

  const users = await signUpUsers(one, 8)
  const acknowledged = new AcknowledgedWrites()
  const loads = nodes.map(({ url }) => simulateUsers({ url, users, acknowledged }))
  await acknowledged.waitForMore(200)
  await Promise.all(loads.map((load) => load.stop()))
  const calls = loads.flatMap(({ outcomes }) => outcomes)
  expect(calls.filter(({ status }) => status !== 200 && status !== 201)).toEqual([])
  const { total_xact_count } = await pooler.statistics()
  expect(Number(total_xact_count)).toBeGreaterThan(acknowledged.posts.size)

  const [olga] = users
  if (!olga) throw new Error('users were signed up')
  for (let round = 0; round < 5; round++) {
    const { id } = await one.publish(olga)
    const sent = { token: olga.token, headers: PAST_CACHE }
    const { body } = await other.call('GET', '/posts', sent)
    expect(body.posts[0].id).toBe(id)
  }
  await mailbox.mailTo(olga.email)

  const sleeping = executeOn(pooler.url, 'SELECT pg_sleep(10)')
  await expect(sleeping).rejects.toThrow(/statement timeout/)
})

test('the doctor reports that the pooler is down and the server therefore cannot write, although the database works', async () => {
  const directUrl = await databaseForTest()
  const pooler = await startPooler(directUrl)
  const env = {
    DATABASE_URL: pooler.url,
    DATABASE_DIRECT_URL: directUrl,
    APP_SECRET: 's'.repeat(32),
    DATA_DIR: await folderForTest(),
    PORT: String(await freePort()),
  }
  expect((await startMain(env)).code).toBe(null)
  const well = (await examine(env)).found
  expect(well).toMatchObject({ pooler: { level: 'ok' }, ready: { level: 'ok' } })
  await pooler.stop()
  const { code, found } = await examine(env)
  expect(code).toBe(1)
  expect(found).toMatchObject({
    database: { level: 'ok' },
    pooler: { level: 'broken', fix: expect.stringContaining('PgBouncer') },
    ready: { level: 'broken', message: expect.stringMatching(/readyz отвечает 503$/) },
  })
})
