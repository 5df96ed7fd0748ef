import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const WORKFLOWS = globSync('.github/workflows/*.yml').map((file) => readFileSync(file, 'utf8'))

test('workflows name actions by commit, because the owner of a tag can move it', () => {
  const actions = WORKFLOWS.flatMap((text) => [...text.matchAll(/uses: (.*)/g)])
  expect(actions.length).toBeGreaterThan(0)
  for (const [, action] of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d/)
})

test('no code of packages runs beside a token that may write, and no checkout leaves a token', () => {
  const jobs = WORKFLOWS.flatMap((text) => {
    const [head = '', ...each] = text.split(/^(?= {2}\w+:\n {4})/m)
    expect(head).not.toContain('write')
    return each
  })
  expect(jobs.filter((job) => /: write$/m.test(job)).length).toBeGreaterThan(0)
  for (const job of jobs) {
    if (/: write$/m.test(job)) expect(job).not.toMatch(/\bnpm\b|\bnpx\b|\bnode\b|checkout/)
    const checkouts = job.match(/actions\/checkout/g)?.length ?? 0
    expect(job.match(/persist-credentials: false/g)?.length ?? 0).toBe(checkouts)
  }
})
