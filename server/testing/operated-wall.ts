import { afterAll } from 'vitest'
import { envOf, runHere } from './run-command.ts'
import { startTestApp } from './test-app.ts'

/**
 * Starts a wall with two people for the tests of one file, a running server with a database of its own, and the functions that
 * run the operator's commands on it: `vslukh`, and `json` for what it prints with --json.
 */
export async function operatedWall() {
  const app = await startTestApp()
  afterAll(() => app.close())
  const vslukh = (...args: string[]) => runHere(envOf(app), args)
  return {
    app,
    olga: await app.signUp(),
    petr: await app.signUp(),
    vslukh,
    json: async (...args: string[]) => JSON.parse((await vslukh(...args, '--json')).out),
    /** The status of a visitor's read of a post. */
    statusOf: async (id: string) => (await app.call('GET', `/posts/${id}`)).status,
  }
}
