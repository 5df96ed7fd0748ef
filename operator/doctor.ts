import { readConfig } from '../server/kernel/config/config.ts'
import { examine } from '../server/operations/doctor/doctor.service.ts'
import { broken, type Finding } from '../server/operations/doctor/finding.ts'
import { callerFolder } from '../server/operations/start/caller-folder.ts'
import { explainStartFailure } from '../server/operations/start/start-failure.ts'
import { type Alone, type Command, type Output, Refusal, requireWords } from './command.ts'
import { openWall } from './open-wall.ts'

export const doctor: Command = {
  usage: ['doctor'],
  summary: 'проверяет всё по порядку и говорит, как починить',
  async runAlone(alone: Alone): Promise<Output> {
    requireWords(alone, 0)
    const findings = await findAll(alone)
    const isBroken = findings.some(({ level }) => level === 'broken')
    return { lines: findings.map(lineOf), json: { isBroken, findings }, isBroken }
  },
}

async function findAll({ env, say }: Alone): Promise<Finding[]> {
  let stage = 'settings'
  try {
    const config = readConfig(env, callerFolder)
    stage = 'database'
    const wall = await openWall(config, say)
    try {
      return await examine({ db: wall.db, config })
    } finally {
      await wall.close()
    }
  } catch (error) {
    const fix =
      stage === 'settings'
        ? 'Исправьте переменную'
        : 'Проверьте, работает ли база данных и та ли она в DATABASE_URL или DATA_DIR: без неё остальное не проверить'
    const message = error instanceof Refusal ? error.message : explainStartFailure(error)
    return [broken(stage, message, fix)]
  }
}

const MARKS = { ok: '✓', warning: '!', broken: '✗' }

export function lineOf({ level, message, fix }: Finding): string {
  const line = `${MARKS[level]} ${message}`
  return fix === undefined ? line : `${line.replace(/\.$/, '')}. ${fix}.`
}
