import { access, constants } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { originOf } from '../server/kernel/config/config.ts'
import { selectIdBase } from '../server/kernel/db/addresses.repository.ts'
import { errorCode } from '../server/kernel/db/database-errors.ts'
import { userName, whyFailed } from '../server/kernel/errors/why-failed.ts'
import { pluralize } from '../server/kernel/errors/words.ts'
import { resolveFromCaller } from '../server/operations/start/caller-folder.ts'
import { writeArchive } from '../server/pages/archive.ts'
import type { Command, Context, Output } from './command.ts'
import { Refusal } from './command.ts'
import { POSTS } from './format.ts'
import { showProgress } from './progress.ts'

const WEB_FOLDER = join(import.meta.dirname, '../dist/web')
const AUTHORS = { one: 'автор', few: 'автора', many: 'авторов' }
const FILES = { one: 'файл', few: 'файла', many: 'файлов' }

export const archive: Command = {
  summary: 'пишет стену готовыми страницами: их отдаст любой веб-сервер, без базы и этой программы',
  needs: 'wall',
  forms: { 'archive ПАПКА [--without-pictures]': write },
}

async function write(context: Context): Promise<Output> {
  const { db, config, options, say, isDryRun } = context
  const folder = resolveFromCaller(context.words[0] ?? '')
  const address = originOf(config)
  if (isDryRun) return { lines: [`Архив ${address}: ${folder}`], json: { folder, address } }
  await requireWritable(dirname(folder), config.dataDir)
  const progress = showProgress(say)
  const counts = await writeArchive(folder, {
    ...{ db, config, webFolder: WEB_FOLDER },
    idBase: (await selectIdBase(db)) ?? address,
    hasPictures: !options['without-pictures'],
    onProgress: (done, total) => progress('pages', done, total),
  })
  const { posts, authors, files } = counts
  const what = [pluralize(posts, POSTS), pluralize(authors, AUTHORS), pluralize(files, FILES)]
  return {
    lines: [
      `Архив: ${folder} (${what.join(', ')}).`,
      `Адреса в нём те же, что на ${address}: отдавайте папку оттуда.`,
    ],
    json: { folder, address, ...counts },
  }
}

/** Root becomes the wall's user, who may not write into root's home. Throws Refusal. */
async function requireWritable(parent: string, dataDir: string): Promise<void> {
  await access(parent, constants.W_OK).catch((cause) => {
    const fix = `Назовите папку там, где он может писать, например ${join(dataDir, 'archive')}`
    const isForbidden = ['EACCES', 'EPERM'].includes(errorCode(cause) ?? '')
    const why = isForbidden ? `у пользователя ${userName()} нет на это права` : whyFailed(cause)
    throw new Refusal(`В ${parent} не записать: ${why}. ${fix}.`, { cause })
  })
}
