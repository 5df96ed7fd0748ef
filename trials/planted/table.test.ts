import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../operations/deploy-file.ts'
import { PLANTED_FAULTS } from './planted-faults.ts'

test.for(PLANTED_FAULTS)('$judge: the fault can still be planted', ({ file, text, planted }) => {
  expect(readFileSync(join(ROOT, file), 'utf8').split(text)).toHaveLength(2)
  expect(planted).not.toBe(text)
})
