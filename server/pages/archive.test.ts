import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../kernel/config/config.ts'
import { leave } from '../testing/calls/account-deletion-calls.ts'
import { textsInXml } from '../testing/http/xml.ts'
import { folderForTest } from '../testing/process/folder-for-test.ts'
import { appForFile } from '../testing/test-app.ts'
import { writeArchive } from './archive.ts'

const publicUrl = 'https://wall.example'
const app = await appForFile({ config: { publicUrl } })
const olga = await app.signUp()
const petr = await app.signUp()

const archiveTo = (
  folder: string,
  hasPictures = false,
  onProgress: () => void | Promise<void> = () => {},
) =>
  writeArchive(folder, {
    ...{ db: app.db, hasPictures, onProgress, idBase: publicUrl },
    config: { ...readConfig({ DATA_DIR: app.dataDir }), publicUrl },
    webFolder: join(app.dataDir, 'web'),
  })

const filesIn = async (folder: string) =>
  (await readdir(folder, { recursive: true })).filter((path) => /\.\w+$/.test(path))

test('an archive has a page, a feed and a picture of each visible post, and nothing of deleted, hidden and removed ones or of people who left', async () => {
  const post = await app.publish(olga, 'Останется')
  const reply = await app.reply(petr, post.id, 'И ответ')
  const gone = await app.publish(olga, 'Удалена автором')
  await app.call('DELETE', `/posts/${gone.id}`, { token: olga.token })
  const hidden = await app.publish(petr, 'Скрыта жалобами')
  await app.sql`UPDATE posts SET hidden_for = 'reported', hidden_until = 'infinity' WHERE id = ${hidden.id}`
  const left = await app.signUp()
  await app.publish(left, 'Ушла вместе с автором')
  await leave(app, left)
  const folder = join(await folderForTest(), 'archive')
  expect(await archiveTo(folder, true)).toMatchObject({ posts: 2, authors: 2 })
  const files = await filesIn(folder)
  expect(files.filter((path) => path.startsWith('posts/')).sort()).toEqual(
    [post, reply]
      .flatMap(({ id }) =>
        ['index.html', 'picture.png', 'replies.atom'].map((name) => `posts/${id}/${name}`),
      )
      .sort(),
  )
  expect(files).toEqual(
    expect.arrayContaining([
      ...['404.html', 'index.html', 'about/index.html', 'feed.json', 'robots.txt', 'sitemap/0.xml'],
      ...[olga, petr].flatMap(({ username }) =>
        ['index.html', 'posts.atom', 'replies/index.html'].map(
          (name) => `users/${username}/${name}`,
        ),
      ),
    ]),
  )
  for (const path of files.filter((name) => /\.(?:html|atom|json|xml)$/.test(name))) {
    const text = await readFile(join(folder, path), 'utf8')
    expect(text, path).not.toMatch(/Удалена автором|Скрыта жалобами|Ушла вместе/)
    expect(text, path).not.toMatch(/<script(?! type="application\/ld)/)
  }
  const feed = await readFile(join(folder, 'feed.atom'), 'utf8')
  expect(textsInXml(feed, '//atom:entry/atom:id')).toEqual([`${publicUrl}/posts/${post.id}`])
  const picture = await readFile(join(folder, `posts/${post.id}/picture.png`))
  expect(picture.subarray(1, 4).toString()).toBe('PNG')
})

test('an archive replaces an earlier one as a whole, and no folder with anything else', async () => {
  const parent = await folderForTest()
  const folder = join(parent, 'archive')
  await mkdir(folder)
  await archiveTo(folder)
  const post = await app.publish(olga)
  await archiveTo(folder)
  expect(await filesIn(folder)).toContain(`posts/${post.id}/index.html`)
  await app.call('DELETE', `/posts/${post.id}`, { token: olga.token })
  await archiveTo(folder)
  expect(await filesIn(folder)).not.toContain(`posts/${post.id}/index.html`)
  expect(await readdir(parent)).toEqual(['archive'])

  const other = join(parent, 'photos')
  await mkdir(other)
  await writeFile(join(other, 'cat.jpg'), 'мяу')
  await expect(archiveTo(other)).rejects.toThrow('лежит другое')
  expect(await readdir(parent)).toEqual(['archive', 'photos'])
  expect(await readdir(other)).toEqual(['cat.jpg'])
})

test('an archive during which a post has left the wall is refused, and the earlier one stays', async () => {
  const parent = await folderForTest()
  const folder = join(parent, 'archive')
  const post = await app.publish(olga)
  await archiveTo(folder)
  const remove = async () => {
    await app.call('DELETE', `/posts/${post.id}`, { token: olga.token })
  }
  await expect(archiveTo(folder, false, remove)).rejects.toThrow('со стены исчезли записи: 1')
  expect(await readdir(parent)).toEqual(['archive'])
  expect(await filesIn(folder)).toContain(`posts/${post.id}/index.html`)
})
