import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { ifExists, readIfExists } from '../server/kernel/config/read-if-exists.ts'
import {
  removeAbandonedFiles,
  removePath,
  unfinishedPath,
} from '../server/kernel/config/replace-file.ts'
import { productVersion } from '../server/kernel/db/migrate.ts'
import { programReason } from '../server/kernel/errors/why-failed.ts'
import { checkRelease, readOwnRelease } from '../server/operations/doctor/release.ts'
import { resolveFromCaller } from '../server/operations/start/caller-folder.ts'
import type { Command, ContextWithoutWall, Output } from './command.ts'
import { Refusal } from './command.ts'
import { openTrustedFile } from './named-path.ts'
import { isProgress, progressEnv, relayProgress } from './progress.ts'
import { interruption } from './terminal.ts'

const RELEASES = '/opt/vslukh'
const ROOT = join(import.meta.dirname, '..')
const BUNDLE = 'attestation.json'
const WORKFLOW = '.github/workflows/release.yml'
/** The script of the running release, so that nothing depends on the new one. */
const SWITCH = join(ROOT, 'bin/switch-release')
const TAR_OPTIONS = ['--no-same-owner', '--no-same-permissions']
const AGREED_ENV = { VSLUKH_WITHOUT_WAY_BACK: 'yes' }

const execute = promisify(execFile)

export const upgrade: Command = {
  summary: 'ставит версию из архива; если она не заработала, возвращает прежнюю',
  needs: 'settings',
  forms: { 'upgrade ФАЙЛ [--sha256 СУММА]': install, 'upgrade --check': check },
  endsWhenInterrupted: true,
}

/** Says how old the release is and where newer ones are; it asks nobody. */
async function check(): Promise<Output> {
  const release = await readOwnRelease()
  const { level, message, fix } = checkRelease(release)
  const where = release.url ?? 'там, откуда вы взяли эту; как собрать свою — docs/upgrading.md'
  const lines = [`${message.replace(/^./, (letter) => letter.toUpperCase())}.`]
  lines.push(fix ? `${fix}.` : `Выпуски: ${where}`)
  return { lines, json: { ...release, isOld: level !== 'ok' } }
}

async function install(context: ContextWithoutWall): Promise<Output> {
  const [file = ''] = context.words.map(resolveFromCaller)
  requireInstalled()
  const from = productVersion()
  const folder = unfinishedPath(join(RELEASES, 'upgrade'))
  try {
    await removeAbandonedFiles(RELEASES)
    await mkdir(folder, { mode: 0o700 })
    // Checks and unpacks a copy, because other users may change the file meanwhile.
    const archive = await copyArchive(file, folder, context.options.sha256)
    // A named sum comes from elsewhere than the archive.
    const isVouched = context.options.sha256 !== undefined
    const origin = isVouched ? undefined : await verifyOrigin(archive, file)
    const { version: to, root } = await readRelease(archive, file)
    const unpacked = join(folder, 'release')
    await mkdir(unpacked)
    const into = ['-C', unpacked, '--strip-components=1']
    const unpack = (parts: string[] = []) =>
      execute('tar', ['-xzf', archive, ...into, ...TAR_OPTIONS, ...parts], {
        signal: interruption,
      }).catch(({ stderr, message }) => {
        interruption.throwIfAborted()
        throw new Refusal(`Архив не распакован. ${programReason(stderr || message)}.`)
      })
    await unpack(['migrations', 'build'].map((name) => `${root}/${name}`))
    const noWayBack = await whyNoWayBack(unpacked)
    if (to === from) throw new Refusal(`Версия ${to} уже стоит.`)
    if (noWayBack && !context.options.yes) throw new Refusal(noWayBack)
    const json = { from, to, hasWayBack: noWayBack === undefined }
    if (origin) context.say(origin)
    if (context.isDryRun) return { lines: [`Версия ${from} станет ${to}.`], json }
    await context.confirm(`Поставить версию ${to} вместо ${from}?`)
    await unpack()
    interruption.throwIfAborted()
    const lines = await switchTo(unpacked, context.say)
    return { lines: [`Версия ${to} стоит.`], json: { ...json, lines } }
  } finally {
    await removePath(folder)
  }
}

function requireInstalled(): void {
  if (!existsSync(join(RELEASES, 'current')) || !existsSync('/run/systemd/system')) {
    throw new Refusal(
      `Здесь нет systemd или ${RELEASES}/current. Сделайте копию (vslukh backup), распакуйте архив рядом, ` +
        'остановите сервер и запустите новый на той же DATA_DIR (docs/upgrading.md).',
    )
  }
  if (process.getuid?.() !== 0) throw new Refusal('Нужны права root: sudo vslukh upgrade ФАЙЛ')
}

/**
 * Copies the archive into a folder of root. Throws Refusal unless its SHA-256 is `given` or, by
 * default, is listed in SHA256SUMS beside it.
 */
async function copyArchive(file: string, folder: string, given?: string): Promise<string> {
  const opened = await ifExists(open(file))
  if (opened === undefined) throw new Refusal(`Нет такого файла: ${file}`)
  const sums = given ? '' : await readSums(join(dirname(file), 'SHA256SUMS'))
  const line = sums.split('\n').find((one) => one.slice(66) === basename(file))
  const expected = given?.toLowerCase() ?? line?.slice(0, 64)
  if (expected === undefined) {
    throw new Refusal(
      `Нечем проверить ${file}: положите рядом SHA256SUMS из того же выпуска или назовите --sha256.`,
    )
  }
  const copy = join(folder, 'release.tar.gz')
  await copyFromFd(opened, copy)
  if (hash('sha256', await readFile(copy)) === expected) return copy
  throw new Refusal(`${file}: SHA-256 не та. Файл повреждён или подменён, скачайте его заново.`)
}

const open = async (path: string) => openTrustedFile(path)
const copyFromFd = (fd: number, to: string) =>
  pipeline(createReadStream('', { fd }), createWriteStream(to, { flags: 'wx' }))

async function readSums(path: string): Promise<string> {
  const opened = await ifExists(open(path))
  return opened === undefined ? '' : text(createReadStream('', { fd: opened }))
}

/**
 * Verifies by GitHub's program, if it is there, that the workflow of the repository from which the
 * running release comes has published the archive. Returns what was checked. Throws Refusal.
 */
async function verifyOrigin(archive: string, file: string): Promise<string> {
  const repository = (await readIfExists(join(ROOT, 'repository')))?.trim()
  const args = ['attestation', 'verify']
  const canVerify = () =>
    execute('gh', [...args, '--help']).then(
      () => true,
      () => false,
    )
  if (!repository || !(await canVerify())) {
    const why = repository ? 'новой программы gh здесь нет' : 'эта версия собрана не выпуском'
    return `Проверена только сумма из SHA256SUMS: откуда архив, не проверить, ${why}.`
  }
  const from = ['--repo', repository, '--signer-workflow', `${repository}/${WORKFLOW}`]
  const opened = await ifExists(open(join(dirname(file), BUNDLE)))
  if (opened !== undefined) {
    const bundle = join(dirname(archive), BUNDLE)
    await copyFromFd(opened, bundle)
    from.push('--bundle', bundle)
  }
  await execute('gh', [...args, archive, ...from], { signal: interruption }).catch((error) => {
    interruption.throwIfAborted()
    throw new Refusal(
      `${file}: не подтверждено, что архив собран выпуском ${repository}. Скачайте оттуда заново архив, ` +
        'SHA256SUMS и attestation.json, либо назовите --sha256 с суммой, которой доверяете. gh: ' +
        String(error.stderr).trim(),
    )
  })
  return `Проверено: архив собран выпуском ${repository}.`
}

/**
 * Reads the version and the root of an archive whose sum is right. Throws Refusal, which names
 * `file`, if it is not a release's or is for another machine.
 */
async function readRelease(archive: string, file: string) {
  const listed = await execute('tar', ['-tzf', archive], { maxBuffer: 64 * 1024 * 1024 }).catch(
    () => undefined,
  )
  const [root = ''] = listed?.stdout.split('/', 1) ?? []
  const [, version, platform] = /^vslukh-(\d[\w.-]*?)-((?:linux|darwin)-\w+)$/.exec(root) ?? []
  if (version === undefined) {
    throw new Refusal(`${file} — не целый архив версии: vslukh-ВЕРСИЯ-linux-x64.tar.gz`)
  }
  const own = `${process.platform}-${process.arch}`
  if (platform !== own) throw new Refusal(`Архив для ${platform}, а эта машина — ${own}.`)
  return { version, root }
}

/** Returns why the upgrade could not be undone, if so. Throws Refusal if it is impossible. */
async function whyNoWayBack(unpacked: string): Promise<string | undefined> {
  const check = (env: Record<string, string>) =>
    execute(SWITCH, ['--check', unpacked], { env: { ...process.env, ...env } }).then(
      () => undefined,
      ({ stderr }) => String(stderr).trim(),
    )
  const refusal = await check(AGREED_ENV)
  if (refusal) throw new Refusal(refusal)
  return check({ VSLUKH_WITHOUT_WAY_BACK: '' })
}

/** Runs the script, shows its lines at once, and returns them. Throws Refusal if it fails. */
async function switchTo(unpacked: string, say: (line: string) => void): Promise<string[]> {
  const env = { ...process.env, ...AGREED_ENV, ...progressEnv() }
  const running = execute(SWITCH, [unpacked], { env })
  running.child.stdin?.end()
  const lines: string[] = []
  if (running.child.stdout) {
    createInterface({ input: running.child.stdout }).on('line', (line) => {
      say(line)
      lines.push(line)
    })
  }
  if (running.child.stderr) {
    createInterface({ input: running.child.stderr }).on('line', (line) => relayProgress(line, say))
  }
  await running.catch(({ stderr }) => {
    const said = String(stderr)
      .split('\n')
      .filter((line) => !isProgress(line))
    throw new Refusal(said.join('\n').trim() || 'Обновление прервано.')
  })
  return lines
}
