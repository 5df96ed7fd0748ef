import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the image is built from one base, fixed by its digest, and runs a Node that is new enough', () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8')
  const [base = '', ...stages] = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, it = '']) => it)
  expect(base).toMatch(/^node:[\d.]+-\w+-slim@sha256:[0-9a-f]{64}$/)
  expect(dockerfile).toMatch(/^CMD \["bin\/run-node", /m)
  expect(new Set(stages)).toEqual(new Set(['base']))
})
