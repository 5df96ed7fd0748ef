import { sql } from 'kysely'
import { formatDate } from '../../../contract/dates.ts'
import { INVITE_ONLY } from '../../../contract/pages.ts'
import { formatDifferences } from '../../features/posts/counters.task.ts'
import { selectEnd, selectSiteState } from '../../features/site-state/site-state.repository.ts'
import { findExposedSecret } from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import { LARGEST_SKEW_MS, measureClockSkew } from '../../kernel/db/clock.ts'
import { neededConnections, readConnectionLimit } from '../../kernel/db/connections.ts'
import { type Db, openDatabase } from '../../kernel/db/database.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
import { formatOperatorTime } from '../../kernel/errors/words.ts'
import { readSecret } from '../start/installation.ts'
import type { DatabaseFacts, JobFacts } from './doctor.repository.ts'
import { broken, type CheckResult, ok, warning } from './finding.ts'

/** States the versions. The start refuses an older PostgreSQL, so the doctor never meets one. */
export function reportVersions({ postgres, version }: DatabaseFacts): CheckResult {
  return ok(`Вслух ${version ?? '—'}, PostgreSQL ${postgres}, Node ${process.versions.node}`)
}

/** Warns if nodes run different versions, because then an upgrade has not ended. */
export function checkNodes({ versions }: DatabaseFacts): CheckResult | undefined {
  if (versions.length < 2) return undefined
  const fix = 'Закончите обновление: поставьте на всех узлах одну версию'
  return warning(`с базой работают узлы разных версий: ${versions.join(', ')}`, fix)
}

export function checkRights(facts: DatabaseFacts): CheckResult {
  if (facts.is_read_only) {
    return broken(
      'база данных только для чтения',
      'Укажите в DATABASE_URL основной сервер или снимите default_transaction_read_only',
    )
  }
  if (facts.foreign_tables > 0 || !facts.may_create) {
    return broken(
      `роли не хватает прав: чужих таблиц ${facts.foreign_tables}`,
      'Отдайте базу и её таблицы роли: ALTER DATABASE имя OWNER TO роль, ALTER TABLE имя OWNER TO роль',
    )
  }
  if (facts.is_superuser) {
    return warning(
      'роль продукта — суперпользователь базы данных',
      'Дайте продукту роль без лишних прав: docs/operations.md, «With a PostgreSQL of your own»',
    )
  }
  if (!facts.is_russian) {
    return warning(
      'локаль базы данных не знает русских букв: поиск не различает слов',
      'Создайте базу с LC_CTYPE C.UTF-8 и перенесите стену: vslukh backup, vslukh restore',
    )
  }
  return ok('таблицы обновлены, прав хватает')
}

/** Warns if the system sorts texts otherwise than when the indexes were made: they may miss rows. */
export function checkCollation({
  collation_stored: stored,
  collation_actual: actual,
  database,
}: DatabaseFacts): CheckResult | undefined {
  if (stored === null || actual === null) return undefined
  if (stored === actual) return ok(`порядок букв тот же, что у индексов: ${actual}`)
  return broken(
    `система сортирует буквы по версии ${actual}, а индексы базы построены по ${stored}: они могут терять строки`,
    `Остановите сервер, сделайте копию и перестройте их в vslukh psql: REINDEX DATABASE ${database}; ALTER DATABASE ${database} REFRESH COLLATION VERSION;`,
  )
}

/** Warns of too few connections: above its limit a node, or a command, is refused. */
export async function checkConnections(
  db: Db,
  { nodes, isBehindPooler }: { nodes: number; isBehindPooler: boolean },
): Promise<CheckResult> {
  const { connections, raise } = await readConnectionLimit(db)
  const needed = neededConnections(Math.max(nodes, 1), isBehindPooler)
  const message = `соединений с базой данных разрешено ${connections}, узлам нужно ${needed}`
  return connections < needed ? warning(message, `Разрешите больше: ${raise(needed)}`) : ok(message)
}

/** Checks that the database answers at DATABASE_URL too: the doctor itself bypasses the pooler. */
export async function checkPooler(config: Config): Promise<CheckResult | undefined> {
  const { databaseUrl, databaseDirectUrl } = config
  if (databaseUrl === undefined || databaseDirectUrl === undefined) return undefined
  await using db = openDatabase(databaseUrl, () => {}, { isBehindPooler: true }).db
  try {
    await sql`SELECT 1`.execute(db)
    return ok('база данных отвечает и через DATABASE_URL')
  } catch (error) {
    const message = `через DATABASE_URL база данных не отвечает: ${whyFailed(error)}`
    return broken(message, 'Запустите пулер (PgBouncer) и проверьте его адрес и пароли')
  }
}

const NOTICEABLE_SKEW_MS = 5000

export async function checkClock(db: Db): Promise<CheckResult> {
  const skew = await measureClockSkew(db)
  const seconds = Math.round(Math.abs(skew) / 1000)
  if (Math.abs(skew) < NOTICEABLE_SKEW_MS) return ok('часы идут как у базы данных')
  const message = `часы ${skew > 0 ? 'спешат' : 'отстают'} на ${seconds} с против часов базы данных`
  const make = Math.abs(skew) > LARGEST_SKEW_MS ? broken : warning
  return make(message, 'Настройте время на обеих машинах: timedatectl set-ntp true')
}

export async function checkSecret(db: Db, config: Config): Promise<CheckResult> {
  try {
    await readSecret(db, config)
    const file =
      config.appSecret === undefined ? await findExposedSecret(config.dataDir) : undefined
    if (file === undefined) return ok('секрет подходит к базе данных')
    return warning(`секрет ${file} читают не только его владелец`, `chmod 600 ${file}`)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return broken('секрет не подходит к базе данных', error.message)
  }
}

const OLDEST_CHECK_DAYS = 3

export function checkCounters(facts: DatabaseFacts): CheckResult {
  const { counter_differences: differences, counters_age_days: age } = facts
  if (age === null) return ok('счётчики ещё не сверялись')
  if (differences) {
    return broken(
      `при последней сверке счётчиков расхождений: ${formatDifferences(differences)}`,
      'Исправьте: vslukh recount',
    )
  }
  if (age > OLDEST_CHECK_DAYS) {
    return warning(
      `счётчики сверялись ${Math.round(age)} дн. назад`,
      'Ночная сверка не проходит: посмотрите в журнале сервера строки об ошибках, сверьте: vslukh recount',
    )
  }
  return ok('счётчики сходятся')
}

export async function checkSiteClosed(db: Db): Promise<CheckResult> {
  const end = await selectEnd(db)
  if (end && end <= new Date()) {
    return ok(`стена закрылась ${formatDate(end)}; открыть снова: vslukh open wall`)
  }
  const { registrationsClosed, isInviteOnly, writingClosed } = await selectSiteState(db)
  const inviteOnly = isInviteOnly ? ' --invite-only' : ''
  const parts = [
    ['регистрация', registrationsClosed, `registrations${inviteOnly}`],
    ['запись на стену', writingClosed, 'writing'],
  ]
  const closed = parts.filter(([, reason]) => reason !== null)
  if (closed.length === 0) {
    const registrations = isInviteOnly ? INVITE_ONLY.toLowerCase() : 'регистрация открыта'
    return ok(`${registrations}, запись на стену открыта`)
  }
  const message = closed.map(([part, reason]) => `${part} закрыта: ${reason}`).join('; ')
  const commands = closed.map(([, , word]) => `vslukh open ${word}`).join(', ')
  return warning(message, `Откройте, когда будет можно: ${commands}`)
}

export function checkJobs({ overdue, given_up, tasks, failing }: JobFacts): CheckResult {
  if (failing.length > 0) {
    const named = failing.map(
      ({ task, since }) => `${task} с ${formatOperatorTime(new Date(since))}`,
    )
    return broken(
      `фоновые задачи не удаются раз за разом: ${named.join(', ')}`,
      "Причина — в журнале сервера, в строках с level error; если это lock timeout, найдите, кто держит строки: SELECT pid, query FROM pg_stat_activity WHERE state LIKE 'idle in%'",
    )
  }
  if (overdue === 0 && given_up === 0) return ok('фоновые задачи выполняются')
  return broken(
    `фоновые задачи стоят: опоздали ${overdue}, брошены ${given_up} (${tasks.join(', ')})`,
    'Запустите сервер, если он стоит; причина — в его журнале, в строках с level error',
  )
}
