import { defineConfig } from 'vitest/config'
import suites from './vitest.config.ts'

/** The tests that look for mutants, by project: `npm run test:mutants` says which. */
const { MUTANT_PROJECT, MUTANT_TESTS = '[]' } = process.env
const projects = suites.test?.projects as { test: { name: string; globalSetup: string[] } }[]

export default defineConfig({
  test: {
    ...suites.test,
    projects: projects
      .filter(({ test }) => test.name === MUTANT_PROJECT)
      .map(({ test, ...project }) => ({
        ...project,
        test: {
          ...test,
          include: JSON.parse(MUTANT_TESTS),
          globalSetup: [...test.globalSetup, './scripts/mutant-setup.ts'],
          maxWorkers: 1,
        },
      })),
  },
})
