import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { attributeOf, PAGE_FLAGS } from '../contract/page-flags.ts'

test('style sheets read exactly the flags of the table', () => {
  const read = globSync('web/**/*.css').flatMap((sheet) =>
    [...readFileSync(sheet, 'utf8').matchAll(/(?:html|:root)([^\s{]*)/g)].flatMap(([, rest = '']) =>
      [...rest.matchAll(/data-[a-z-]+/g)].map(String),
    ),
  )
  const flags = Object.keys(PAGE_FLAGS).map((flag) => attributeOf(flag as never))
  expect([...new Set(read)].sort()).toEqual(flags.sort())
})
