import { readConfig } from '../server/kernel/config/config.ts'
import { ConfigError } from '../server/kernel/config/config-reader.ts'
import { examine } from '../server/operations/doctor/doctor.service.ts'
import { broken, type CheckResult, findingsOf } from '../server/operations/doctor/finding.ts'
import { callerFolder } from '../server/operations/start/caller-folder.ts'
import { explainStartFailure } from '../server/operations/start/start-failure.ts'
import type { BaseContext, Command, Output } from './command.ts'
import { openWall } from './open-wall.ts'

export const doctor: Command = {
  summary: 'проверяет всё по порядку и говорит, как починить',
  needs: 'nothing',
  forms: { doctor: examineAll },
}

async function examineAll(context: BaseContext): Promise<Output> {
  const findings = await findAll(context)
  const isBroken = findings.some(({ level }) => level === 'broken')
  return { lines: findings.map(resultLine), json: { isBroken, findings }, isBroken }
}

async function findAll({ env, say }: BaseContext) {
  try {
    const config = readConfig(env, callerFolder)
    await using wall = await openWall(config, say)
    return await examine({ db: wall.db, config })
  } catch (error) {
    const message = explainStartFailure(error)
    if (error instanceof ConfigError) {
      return findingsOf({ settings: broken(message, 'Исправьте переменную') })
    }
    const fix =
      'Проверьте, работает ли база данных и та ли она в DATABASE_URL или DATA_DIR: без неё остальное не проверить'
    return findingsOf({ database: broken(message, fix) })
  }
}

const MARKS = { ok: '✓', warning: '!', broken: '✗' }

/** Returns a finding as one line, even if a server's reply in it has several. */
export function resultLine({ level, message, fix }: CheckResult): string {
  const line = `${MARKS[level]} ${message.replace(/\s*\n/g, ' ')}`
  // A sentence may end with a statement of SQL, which is copied with all that follows it.
  const ended = (text: string) => text.replace(/(?<![.;])$/, '.')
  return fix === undefined ? line : `${ended(line)} ${ended(fix)}`
}
