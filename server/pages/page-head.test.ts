import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { postOf } from '../testing/post-of.ts'
import { headOf } from './page-head.ts'

const SITE = { appName: 'Вслух', publicUrl: 'https://vslukh.example' }

function feedsIn(head: string): string[] {
  const links = head.matchAll(/<link rel="alternate" type="(.*?)" href="(.*?)">/g)
  return [...links].map(([, type, href]) => `${type} ${href}`)
}

test('the wall and a post name their feeds, other pages have none; only a post has structured data', () => {
  expect(feedsIn(headOf('wall', SITE))).toEqual([
    'application/atom+xml /feed.atom',
    'application/feed+json /feed.json',
  ])
  expect(feedsIn(headOf(postOf('текст'), SITE))).toEqual([
    'application/atom+xml /posts/1/replies.atom',
  ])
  for (const shown of ['own', 'other', 'no post', 'nothing'] as const) {
    expect(feedsIn(headOf(shown, SITE))).toEqual([])
  }
  expect(headOf(postOf('текст'), SITE)).toContain('<script type="application/ld+json">')
  expect(headOf('wall', SITE)).not.toContain('<script')
})

test('previews have a large picture, which has the size that they state', async () => {
  const png = await readFile(join(import.meta.dirname, '../../web/public/preview.png'))
  const head = headOf('wall', SITE)
  expect(head).toContain('<meta name="twitter:card" content="summary_large_image">')
  expect(head).toContain(`content="${SITE.publicUrl}/preview.png"`)
  // The header of a PNG: its width and height are the two numbers from byte 16 on.
  expect(head).toContain(`"og:image:width" content="${png.readUInt32BE(16)}"`)
  expect(head).toContain(`"og:image:height" content="${png.readUInt32BE(20)}"`)
})
