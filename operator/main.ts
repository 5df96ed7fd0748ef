import { stopDatabases } from './open-wall.ts'
import { runProgram } from './program.ts'
import { interruption, listenForInterruption } from './terminal.ts'

listenForInterruption()
const { env, stdin, stdout: out, stderr: err } = process
// The reader may be gone: `vslukh journal | head`, or a terminal that was closed.
for (const stream of [out, err]) stream.on('error', () => {})
process.exitCode = await runProgram(process.argv.slice(2), {
  env,
  out,
  err,
  ...(stdin.isTTY && { input: stdin }),
})
if (interruption.aborted) {
  await stopDatabases()
  // Statements that still run on another machine's database would keep the process alive.
  process.exit()
}
