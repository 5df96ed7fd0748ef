import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the image is built from one base, fixed by its digest, and runs a Node that is new enough', () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8')
  const [base = '', ...stages] = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, it = '']) => it)
  expect(base).toMatch(/^node:[\d.]+-\w+-slim@sha256:[0-9a-f]{64}$/)
  expect(dockerfile).toMatch(/^CMD \["bin\/run-node", /m)
  expect(new Set(stages)).toEqual(new Set(['base']))
})

test('TypeScript comes with no packages for production, though a newer cosmiconfig may use it', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const compilers = Object.entries<{ dev?: true }>(packages).filter(([path]) =>
    /typescript/.test(path),
  )
  expect(compilers.length).toBeGreaterThan(1)
  expect(compilers.filter(([, { dev }]) => !dev)).toEqual([])
})
