import { envOf, runHere } from './process/run-command.ts'
import { mailAppForFile } from './test-app.ts'

/** Starts a wall with two people. `vslukh` runs a command on it, `json` returns its --json. */
export async function operatedWall() {
  const { app, mailbox } = await mailAppForFile()
  const vslukh = (...args: string[]) => runHere(envOf(app), args)
  return {
    app,
    mailbox,
    olga: await app.signUp(),
    petr: await app.signUp(),
    vslukh,
    json: async (...args: string[]) => JSON.parse((await vslukh(...args, '--json')).out),
    statusOf: async (id: string) => (await app.call('GET', `/posts/${id}`)).status,
  }
}
