import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { asRoot as test } from '../../server/testing/process/folder-for-test.ts'
import { listen } from '../../server/testing/process/free-port.ts'
import { attempt } from '../operations/deploy-file.ts'
import { openMachine } from '../operations/machine-without-systemd.ts'
import { copyTree, VERSION } from '../operations/releases.ts'
import { IN_ALL } from './commands.ts'
import { strace } from './traced-run.ts'

const NEXT = '99.0.0'
const CALLS = 'mkdir,openat,rename,renameat2,symlinkat,unlink,unlinkat,linkat,fchmodat'
const FORKS = 'clone,clone3,fork,vfork'
/** A fork is where the script goes on to its next step. */
const STEPS_TRIED = 40
/** In place of systemd: a service that runs, whatever is asked of it. */
const SYSTEMCTL = `#!/bin/sh
case "$*" in is-active*) echo active ;; show*) echo 0 ;; esac
`

/** A machine on which a wall runs, and the release after it, unpacked beside it. */
async function runningMachine() {
  const machine = await openMachine()
  const { folder } = machine
  const opt = join(folder, 'opt/vslukh')
  await copyTree(join(folder, 'next'), NEXT)
  await mkdir(join(folder, 'opt/bin'))
  for (const [name, text] of [
    ['systemctl', SYSTEMCTL],
    ['journalctl', '#!/bin/sh\n'],
  ] as const) {
    await writeFile(join(folder, 'opt/bin', name), text, { mode: 0o755 })
  }
  const ready = createServer((_request, response) => void response.end())
  onTestFinished(() => void ready.close())
  await writeFile(join(folder, 'etc/vslukh.env'), `PORT=${await listen(ready)}\n`)
  const current = () => readlink(join(opt, 'current'))
  return {
    folder,
    /** Puts the machine back to the former release. */
    async reset() {
      for (const name of await readdir(opt)) {
        if (name !== VERSION) await rm(join(opt, name), { recursive: true })
      }
      await symlink(VERSION, join(opt, 'current'))
    },
    /** Switches to the next release, with these options of strace. */
    async run(...tracing: string[]) {
      const log = join(folder, 'strace')
      const line = `cd ${folder}; export PATH="/opt/bin:$PATH"; exec ${strace} -f -y -o ${log} ${tracing
        .map((word) => `'${word}'`)
        .join(' ')} /opt/vslukh/${VERSION}/bin/switch-release next`
      const { code, out, err } = await machine.call('sh -c', line)
      return { code, said: out + err, traced: await readFile(log, 'utf8') }
    },
    /** Returns which release is linked. Throws unless it is whole. */
    async linked(): Promise<string> {
      const version = await current()
      const source = version === NEXT ? join(folder, 'next') : join(opt, version)
      expect(
        await attempt('diff', ['-rq', '--no-dereference', source, join(opt, version)]),
      ).toMatchObject({ code: 0 })
      return version
    },
    left: async () =>
      (await readdir(opt)).filter((name) => ![VERSION, NEXT, 'current', '.lock'].includes(name)),
    hasNext: () => existsSync(join(opt, NEXT)),
  }
}

type Machine = Awaited<ReturnType<typeof runningMachine>>

/** Returns what was wrong with a switch at which something has failed. */
async function judge(
  machine: Machine,
  { code, said }: Awaited<ReturnType<Machine['run']>>,
  { isKilled = false, mayLeave = false },
) {
  const wrong: string[] = []
  const version = await machine.linked().catch((error) => `damaged: ${error}`)
  if (!isKilled) {
    if (code === 0 && version !== NEXT) wrong.push(`success with ${version}`)
    if (code !== 0 && version !== VERSION) wrong.push(`failure with ${version}`)
    if (code !== 0 && !/[а-яё]/i.test(said)) wrong.push('no sentence')
    const left = await machine.left()
    if (!mayLeave && left.length > 0) wrong.push(`left ${left}`)
  } else if (version.startsWith('damaged')) wrong.push(version)
  const again = await machine.run('-e', 'trace=none')
  if (again.code !== 0) wrong.push(`again: ${again.said}`)
  else if ((await machine.linked()) !== NEXT) wrong.push('again: not switched')
  const left = await machine.left()
  if (left.length > 0) wrong.push(`again: left ${left}`)
  return wrong.length === 0 ? '' : `${wrong.join(' | ')} | said: ${said.trim()}`
}

test(
  'each call of a switch to another release fails: the former release or the whole new one is linked, and what is said is so',
  IN_ALL,
  async ({ skip }) => {
    skip(!strace, 'strace is not there')
    const machine = await runningMachine()
    await machine.reset()
    const { traced } = await machine.run('-e', `trace=${CALLS}`)
    const direct = /^\d+ +(\w+)\([^"]*(?:"[^"]*", [^"]*)?"(\/opt\/vslukh\/[^/"]+)"/
    const calls = traced.split('\n').flatMap((line) => {
      const [, name, path] = direct.exec(line) ?? []
      const changes = name !== 'openat' || line.includes('O_CREAT')
      return name && path && changes && !line.includes(' = -1') ? [`${name} ${path}`] : []
    })
    const faults: string[] = []
    for (const call of new Set(calls)) {
      const [name = '', path = ''] = call.split(' ')
      for (const error of ['EIO', 'ENOSPC']) {
        await machine.reset()
        const inject = ['-P', path, '-e', `trace=${name}`, '-e', `inject=${name}:error=${error}`]
        const found = await judge(machine, await machine.run(...inject), {
          mayLeave: name.startsWith('unlink'),
        })
        if (found) faults.push(`${call} ${error}: ${found}`)
      }
    }
    expect(calls.length).toBeGreaterThan(3)
    expect(faults.join('\n')).toBe('')
  },
)

test(
  'a switch to another release that is killed before any of its steps is repeated',
  IN_ALL,
  async ({ skip }) => {
    skip(!strace, 'strace is not there')
    const machine = await runningMachine()
    const faults: string[] = []
    for (let step = 1; step <= STEPS_TRIED; step++) {
      await machine.reset()
      const inject = ['-e', `trace=${FORKS}`, '-e', `inject=${FORKS}:signal=SIGKILL:when=${step}`]
      const ran = await machine.run(...inject)
      if (!ran.traced.includes('killed by SIGKILL')) break
      const found = await judge(machine, ran, { isKilled: true })
      if (found) faults.push(`step ${step}: ${found}`)
    }
    expect(faults.join('\n')).toBe('')
  },
)
