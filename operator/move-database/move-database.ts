import { join } from 'node:path'
import { hasCluster } from '../../server/operations/embedded-postgres/cluster.ts'
import { sentenceOfFailure } from '../../server/operations/start/start-failure.ts'
import type { Command, ContextWithoutWall, Output } from '../command.ts'
import { Refusal, UsageError } from '../command.ts'
import { readOptionFile } from '../setup/answers.ts'
import { makeDatabase } from '../setup/database.ts'
import { requireMachine } from '../setup/machine.ts'
import { BACKUP_FOLDER } from '../setup/settings-file.ts'
import { MovedWall, type StartedMove, urlWithoutPassword } from './site.ts'

export const moveDatabase: Command = {
  summary: 'переносит стену из встроенного PostgreSQL в другой; прерванный перенос продолжает',
  needs: 'settings',
  forms: { 'move-database [DATABASE_URL] [--url-file ФАЙЛ]': moveWall },
  endsWhenInterrupted: true,
}

async function moveWall(context: ContextWithoutWall): Promise<Output> {
  const { config, isDryRun } = context
  const site = new MovedWall(context)
  if (site.isInstalled) await requireMachine()
  const begun = await site.readStartedMove()
  const { databaseUrl } = config
  if (databaseUrl !== undefined) {
    if (begun?.target !== urlWithoutPassword(databaseUrl)) {
      throw new Refusal('Стена уже в базе данных из DATABASE_URL.')
    }
    return finish(site, context, databaseUrl, begun)
  }
  const cluster = join(config.dataDir, 'postgres')
  if (!(await hasCluster(cluster)))
    throw new Refusal(`В ${config.dataDir} нет встроенной базы данных.`)
  const given = readTargetUrl(context)
  if (isDryRun) {
    const to = given === undefined ? 'PostgreSQL этой машины' : urlWithoutPassword(given)
    return { lines: [`Стена перейдёт из ${cluster} в ${to}.`], json: { from: cluster, to } }
  }
  const question = 'Перенести стену? Пока делается копия, сервер стоит.'
  await context.confirm(question)
  const url = given ?? (await makeDatabase()).url
  await site.requireSettable(url)
  const moved = await move(site, context, { url, begun })
  return finish(site, context, url, moved)
}

/** Reads the target from `--url-file`, or from the words, where every user could see a password. */
function readTargetUrl({ words: [word], options }: ContextWithoutWall): string | undefined {
  const path = options['url-file']
  if (path !== undefined) return readOptionFile(path, '--url-file')
  if (word === undefined) return undefined
  const url = URL.parse(word)
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    throw new UsageError('нужен адрес вида postgresql://роль@сервер/база')
  }
  if (url.password === '' && !url.searchParams.has('password')) return word
  throw new UsageError('адрес с паролем видят все, кто есть на машине: нужен --url-file')
}

type Moving = { url: string; begun: StartedMove | undefined }

/** Copies the wall and sets DATABASE_URL. On failure the wall stays in its former database. */
async function move(
  site: MovedWall,
  { config, say }: ContextWithoutWall,
  { url, begun }: Moving,
): Promise<StartedMove> {
  const target = urlWithoutPassword(url)
  const folder = config.backupDir ?? (site.isInstalled ? BACKUP_FOLDER : config.dataDir)
  const isOwn = begun?.target === target
  const replace = isOwn ? ['--replace'] : []
  const backUp = async () =>
    (await site.runCommand<{ file: string }>(undefined, 'backup', folder)).file
  const isRunning = await site.isRunning()
  if (!isRunning) await site.requireStopped()
  say('Проверяем новую базу…')
  const trial = await backUp()
  await site
    .runCommand(url, 'restore', trial, '--dry-run', ...replace)
    .finally(() => site.remove(trial))

  const wasRunning = isRunning || (isOwn && begun.wasRunning)
  const moving = { target, wasRunning }
  await site.writeStartedMove(moving).catch(async (cause) => {
    // The name of a file that is not on the disk for certain remains.
    if (!begun) await site.end()
    throw cause
  })
  try {
    await site.stop()
    say('Делаем копию…')
    const file = await backUp()
    say(`Копия: ${file}. Проверяем её…`)
    await site.runCommand(undefined, 'verify', file)
    say('Загружаем её в новую базу…')
    await site.runCommand(url, 'restore', file, ...replace)
    say('Сверяем новую базу с прежней…')
    await requireSame(site, url)
    await site.switchTo(url)
    return moving
  } catch (error) {
    if (wasRunning) await site.start()
    throw error
  }
}

type WallCounts = { users: number; posts: number }

async function requireSame(site: MovedWall, url: string): Promise<void> {
  const { mended } = await site.runCommand<{ mended: unknown[] }>(url, 'recount', '--dry-run')
  const before = await site.runCommand<WallCounts>(undefined, 'status')
  const after = await site.runCommand<WallCounts>(url, 'status')
  if (mended.length === 0 && before.users === after.users && before.posts === after.posts) return
  throw new Refusal('Новая база разошлась с прежней. Стена осталась в прежней.')
}

async function finish(
  site: MovedWall,
  { config }: ContextWithoutWall,
  url: string,
  { wasRunning }: StartedMove,
): Promise<Output> {
  if (wasRunning) await site.start()
  const [from, to] = [join(config.dataDir, 'postgres'), urlWithoutPassword(url)]
  await site.end().catch((cause) => {
    throw new Refusal(`Стена теперь в ${to}. Не удалён ${sentenceOfFailure(cause)}`, {
      cause,
    })
  })
  const next = wasRunning ? '' : ' Запустите сервер.'
  const set = site.isInstalled ? next : ` Запустите сервер с DATABASE_URL=${to}.`
  return {
    lines: [`Стена теперь в ${to}.${set} Прежняя база цела; когда всё проверите: rm -r ${from}`],
    json: { from, to },
  }
}
