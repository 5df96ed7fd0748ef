import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import suites from './vitest.config.ts'

/** The tests that look for mutants, by project: `npm run test:mutants` says which. */
const { MUTANT_PROJECT, MUTANT_TESTS = '[]' } = process.env
type Suite = { name: string; globalSetup: string[]; setupFiles?: string[] }
const projects = suites.test?.projects as { test: Suite }[]

/** First what failed last, as it notices the next mutant too, and then the quickest. */
class LikelyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const costOf = (file: TestSpecification) => {
      const last = this.ctx.cache.getTestSpecificationResult(file)
      return last?.failed ? 0 : (last?.duration ?? 0)
    }
    return files.toSorted((a, b) => costOf(a) - costOf(b))
  }
}

export default defineConfig({
  test: {
    ...suites.test,
    sequence: { sequencer: LikelyFirst },
    projects: projects
      .filter(({ test }) => test.name === MUTANT_PROJECT)
      .map(({ test, ...project }) => ({
        ...project,
        test: {
          ...test,
          include: JSON.parse(MUTANT_TESTS),
          globalSetup: [...test.globalSetup, './scripts/testing/mutant-setup.ts'],
          setupFiles:
            test.name === 'server'
              ? ['./scripts/testing/drop-left-databases.ts']
              : (test.setupFiles ?? []),
          maxWorkers: 1,
          // What never comes is waited for more shortly than on a busy machine.
          testTimeout: 20_000,
          hookTimeout: 20_000,
        },
      })),
  },
})
