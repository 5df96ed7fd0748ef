// Loaded before a traced command: creates the one thread that makes all calls of files, and waits
// until strace follows it. The descriptor is a pipe of the trial.
import { closeSync, readSync } from 'node:fs'
import { stat } from 'node:fs/promises'

const PIPE = 3

await stat('/')
readSync(PIPE, Buffer.alloc(1))
closeSync(PIPE)
