import { errorCode } from '../server/kernel/db/database-errors.ts'
import { exitProcess } from '../server/kernel/disk/disk.ts'
import { whyFailed } from '../server/kernel/errors/why-failed.ts'
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
if (interruption.aborted) await stopDatabases()
// Once all is printed: a connection that failed or still runs a statement keeps the process alive.
out.write('', () => {
  const { errored } = out
  if (errored && errorCode(errored) !== 'EPIPE') {
    process.exitCode ||= 1
    err.write(`Ответ не напечатан: ${whyFailed(errored)}\n`)
  }
  err.write('', () => exitProcess(Number(process.exitCode)))
})
