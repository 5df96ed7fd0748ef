import { expect, test } from 'vitest'
import { type Outcome, solve } from './alloy.ts'
import { MODELS, rulesIn, withoutRule } from './rules.ts'
import { traceOf } from './traces.ts'

/**
 * Solves the models, and solves them again without each of their rules: an assertion has to fail then.
 * played.test.ts plays the scenarios over HTTP; `npm run test:door -- -u` stores them.
 */

const CASES = MODELS.flatMap(({ rules, ...model }) =>
  Object.entries(rules).map(([rule, broken]) => ({ ...model, rule, ...broken })),
)

test.each(MODELS)('each rule of $file has a case that breaks it', ({ text, rules }) => {
  expect(rulesIn(text).toSorted()).toEqual(Object.keys(rules).toSorted())
})

test.for(MODELS)(
  'every assertion of $file holds, and every scenario is possible',
  async ({ file, text }, { signal }) => {
    const outcomes = await solve(text, { signal })
    const commands = [...text.matchAll(/^(?:check|run) (\w+)/gm)].map(([, name]) => name)
    const asserted = [...text.matchAll(/^assert (\w+)/gm)].map(([, name]) => name)
    expect(outcomes.map(({ name }) => name)).toEqual(commands)
    expect(outcomes.filter(({ isCheck }) => isCheck).map(({ name }) => name)).toEqual(asserted)
    const wrong = outcomes.filter(({ isCheck, states }) => isCheck === (states !== undefined))
    expect(wrong.map(({ name }) => name)).toEqual([])
    if (file === 'door.als') await expect(storable(outcomes)).toMatchFileSnapshot('traces.jsonl')
  },
)

/** Returns a line for each scenario that the server can play. */
function storable(outcomes: Outcome[]): string {
  const scenarios = outcomes.filter(({ isCheck }) => !isCheck)
  const traces = scenarios.map(({ name, states = [] }) => traceOf(states, name))
  return traces.map((trace) => `${JSON.stringify(trace)}\n`).join('')
}

test.concurrent.for(CASES)(
  'without «$rule» $fails fails',
  async ({ text, rule, instead, fails }, { signal }) => {
    const broken = withoutRule(text, rule, instead)
    const [outcome] = await solve(broken, { command: fails, signal })
    expect(outcome?.states, `${fails} holds without the rule`).toBeDefined()
  },
)
