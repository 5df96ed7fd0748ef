import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { selectSiteState } from '../features/site-state/site-state.repository.ts'
import { createBackup } from '../operations/backup/create-backup.service.ts'
import { restoreBackup } from '../operations/backup/restore.service.ts'
import { startAt } from '../testing/calls/sign-in-calls.ts'
import { BACKUP_SECRET, emptyDatabase, restoreOptions } from '../testing/database/backups.ts'
import { databaseForTest } from '../testing/database/database-for-test.ts'
import { executeOn } from '../testing/database/databases.ts'
import { WEB_FILES } from '../testing/fake-web-app.ts'
import { textsInXml } from '../testing/http/xml.ts'
import { folderForTest } from '../testing/process/folder-for-test.ts'
import { appForTest, mailAppForTest, startTestApp, type TestApp } from '../testing/test-app.ts'

const FORMER = 'https://old.example'
const NEW = 'https://new.example'

/** Returns the ids of the wall's feeds, of their posts, and of the structured data of a post. */
async function idsOf({ url }: TestApp, postId: string, username: string) {
  const read = async (path: string) => (await fetch(url + path)).text()
  const feeds = ['/feed.atom', `/posts/${postId}/replies.atom`, `/users/${username}/posts.atom`]
  const atoms = await Promise.all(feeds.map(read))
  const page = await read(`/posts/${postId}`)
  const [, data = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(page) ?? []
  return {
    atom: atoms.flatMap((xml) => textsInXml(xml, '//atom:id')),
    json: JSON.parse(await read('/feed.json')).items.map(({ id }: { id: string }) => id),
    page: JSON.parse(data)['@id'],
  }
}

async function withWall<T>(
  databaseUrl: string,
  publicUrl: string | undefined,
  act: (app: TestApp) => Promise<T>,
  formerUrls: string[] = [],
): Promise<T> {
  const app = await startTestApp({ databaseUrl, config: { publicUrl, formerUrls } })
  return act(app).finally(() => app.close())
}

for (const first of [FORMER, undefined]) {
  test(`ids stay when a wall that began at ${first ?? 'no address'} moves, also from a backup`, async () => {
    const url = await databaseForTest()
    const { id, username, before } = await withWall(url, first, async (app) => {
      const olga = await app.signUp()
      const { id } = await app.publish(olga)
      await app.reply(olga, id)
      const { username } = olga
      return { id, username, before: await idsOf(app, id, username) }
    })
    expect(before.page).toBe(before.json[0])
    expect(before.page).toMatch(first ?? /^tag:localhost,\d{4}-\d\d-\d\d:[-\da-f]{36}\/posts/)
    await withWall(url, NEW, async (app) => {
      expect(await idsOf(app, id, username)).toEqual(before)
      const feed = await (await fetch(`${app.url}/feed.atom`)).text()
      expect(feed).toContain(`href="${NEW}/posts/${id}"`)
    })
    const folder = await folderForTest()
    const path = join(folder, 'wall.backup')
    await createBackup(url, path, { secret: BACKUP_SECRET })
    const restored = await emptyDatabase()
    await restoreBackup(restored, path, restoreOptions(folder))
    await withWall(restored, 'https://third.example', async (app) => {
      expect(await idsOf(app, id, username)).toEqual(before)
    })
  })
}

test('a mail has a Message-ID of the first address, which stays when it is sent again after a move', async () => {
  const databaseUrl = await databaseForTest()
  await withWall(databaseUrl, FORMER, async () => {})
  const { app, mailbox } = await mailAppForTest({ publicUrl: NEW }, { databaseUrl })
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  const { source } = await mailbox.mailTo('olga@example.org')
  expect(source).toMatch(/^Message-ID:\s+<[\w-]+@old\.example>/im)
})

/** Reads a path as the proxy of a host asks for it; fetch() would not send another Host. */
function readAs(host: string, url: string): Promise<{ status: number | undefined; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  get(url, { headers: { host, accept: 'text/html' } }, resolve).on('error', reject)
  return promise.then(async (answer) => ({ status: answer.statusCode, body: await text(answer) }))
}

test('a former address serves what browsers kept there, and a script that ends its service worker; others do not', async () => {
  const app = await appForTest({ config: { publicUrl: NEW, formerUrls: [FORMER] } })
  const { status, body } = await readAs('old.example', `${app.url}/moved`)
  expect(status).toBe(200)
  expect(body).toContain(`Новый адрес — <a href="${NEW}">new.example</a>`)
  expect(await readAs('new.example', `${app.url}/moved`)).toMatchObject({ status: 404 })
  for (const [host, script] of [
    ['old.example', 'service-worker-off.js'],
    ['new.example', 'service-worker.js'],
  ] as const) {
    const worker = await readAs(host, `${app.url}/service-worker.js`)
    expect(worker, host).toEqual({ status: 200, body: WEB_FILES[script] })
  }
  const unmoved = await appForTest({ config: { publicUrl: NEW } })
  expect(await readAs('old.example', `${unmoved.url}/moved`)).toMatchObject({ status: 404 })
})

test('for 90 days after a move that FORMER_URLS names, pages have the former address of the wall', async () => {
  const url = await databaseForTest()
  const movedFrom = async ({ db }: TestApp) => (await selectSiteState(db)).movedFrom
  const letters = ['https://xn--80adxhks.example']
  expect(await withWall(url, FORMER, movedFrom, letters)).toBe(undefined)
  expect(await withWall(url, NEW, movedFrom)).toBe(undefined)
  expect(await withWall(url, NEW, movedFrom, letters)).toBe('https://москва.example')
  await executeOn(url, `UPDATE installation SET moved_at = moved_at - interval '91 days'`)
  expect(await withWall(url, NEW, movedFrom, letters)).toBe(undefined)
})
