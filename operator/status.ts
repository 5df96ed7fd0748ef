import { formatDate } from '../contract/dates.ts'
import type { SiteState } from '../contract/pages.ts'
import { countWaiting, type WaitingCounts } from '../server/features/moderation/queue.repository.ts'
import { formatDifferences } from '../server/features/posts/counters.task.ts'
import type { MailReputation } from '../server/features/site-state/mail-reputation.service.ts'
import {
  selectEnd,
  selectNotice,
  selectSiteState,
} from '../server/features/site-state/site-state.repository.ts'
import { nodeOriginOf } from '../server/kernel/config/config.ts'
import { productVersion } from '../server/kernel/db/migrate.ts'
import { formatOperatorTime, formatSize, pluralize } from '../server/kernel/errors/words.ts'
import type { RefusedNetwork } from '../server/kernel/http/refusal-log.ts'
import type { MailHealth } from '../server/kernel/mail/mail-log.repository.ts'
import { explainSmtp } from '../server/kernel/mail/smtp-advice.ts'
import type { BackupState } from '../server/operations/backup/backup-state.repository.ts'
import { checkJobs } from '../server/operations/doctor/database-checks.ts'
import { selectJobFacts } from '../server/operations/doctor/doctor.repository.ts'
import {
  type DoctorRequest,
  IDENTITY_PATH,
  questionHeader,
} from '../server/operations/doctor/identity.ts'
import { selectStatus, type WallStatus } from '../server/operations/status/status.repository.ts'
import { readWallState, type StateLine } from '../server/operations/status/wall-state.service.ts'
import type { Command, Context, Output } from './command.ts'
import { APPEALS, POSTS, REPORTS } from './format.ts'

export const status: Command = {
  summary: 'люди, записи, жалобы, письма и проверки одним взглядом',
  needs: 'wall',
  forms: { status: show },
}

async function show(context: Context): Promise<Output> {
  // The database stores only the version that last changed its tables.
  const wall = { ...(await selectStatus(context.db)), version: productVersion() }
  const waiting = await countWaiting(context.db)
  const { lines: state, mails, mailName, backup } = await readWallState(context)
  const site = await selectSiteState(context.db)
  const refused = await readRefusedNetworks(context)
  const notice = await selectNotice(context.db)
  const endsAt = await selectEnd(context.db)
  const jobs = checkJobs(await selectJobFacts(context.db))
  const { moderatorEmails } = context.config
  const nodes = wall.nodes === 0 ? 'сервер не запущен' : `узлов: ${wall.nodes}`
  const reports =
    waiting.oldest === null
      ? 'нет'
      : `${waitingLine(waiting)}, самая давняя ждёт с ${formatOperatorTime(waiting.oldest)}`
  const checked =
    wall.counters_checked_at === null
      ? 'ещё не сверялись'
      : `${formatOperatorTime(wall.counters_checked_at)}, расхождений: ${formatDifferences(wall.counter_differences ?? 0)}`
  return {
    lines: [
      `Версия:     ${wall.version}, ${nodes}`,
      `Люди:       ${wall.users}, сессий: ${wall.sessions}`,
      `Записи:     ${wall.posts} на стене, за сутки с ответами: ${wall.posts_today}`,
      `Доступ:     ${accessLine(wall, site)}`,
      ...(endsAt ? [`Закрытие:   ${formatDate(endsAt)}`] : []),
      ...(notice ? [`Объявление: ${notice.text}`] : []),
      `Жалобы:     ${reports}; письма о них: ${moderatorEmails.join(', ') || 'никому, MODERATOR_EMAIL не задан'}`,
      `Письма:     ${mailLine(mails)}${refusedMailsLine(mailName)}`,
      `Счётчики:   ${checked}`,
      `Копия:      ${backupLine(backup)}`,
      `Задачи:     ${jobs.message}`,
      ...refusedNetworkLines(refused),
      `Состояние:  ${stateLine(state)}`,
    ],
    json: {
      ...wall,
      registrations_closed: site.registrationsClosed,
      writing_closed: site.writingClosed,
      moderatorEmails,
      notice: notice ?? null,
      ends_at: endsAt,
      mails,
      mailName,
      waiting,
      backup,
      jobs,
      refused,
      state,
    },
  }
}

/** Names what moderators see as not well; the doctor has the commands. */
function stateLine(lines: StateLine[]): string {
  const faults = lines.filter(({ level }) => level !== 'ok')
  if (faults.length === 0) return 'всё в порядке'
  const named = faults.map(({ name, message }) => `${name.toLowerCase()}: ${message}`)
  return `${named.join('. ')}. Как исправить: vslukh doctor`
}

function accessLine(wall: WallStatus, site: SiteState): string {
  const state = (reason: string | null, open = 'открыта') =>
    reason === null ? open : `закрыта (${reason})`
  const registrations = state(
    site.registrationsClosed,
    site.isInviteOnly ? 'по приглашениям' : 'открыта',
  )
  return (
    `регистрация ${registrations}, запись на стену ${state(site.writingClosed)}; ` +
    `запретов: ${wall.bans}, приглашений: ${wall.invitations}`
  )
}

function waitingLine({ posts, reports, appeals }: WaitingCounts): string {
  const parts = [
    ...(reports > 0 ? [pluralize(reports, REPORTS)] : []),
    ...(appeals > 0 ? [pluralize(appeals, APPEALS)] : []),
  ]
  return `${parts.join(' и ')} на ${pluralize(posts, POSTS)}`
}

function mailLine({ waiting, failing, failingSince, reason, lastHour }: MailHealth): string {
  const { sent, refused, expired } = lastHour
  const ended = `за час отправлено: ${sent}, отклонено: ${refused}, опоздало: ${expired}`
  const line = `ждут: ${waiting}, не уходят: ${failing}; ${ended}`
  return failingSince === null
    ? line
    : `${line}. Не уходят с ${formatOperatorTime(failingSince)}: ${explainSmtp({ message: reason }).message}`
}

function refusedMailsLine({ refused, networks, isSlowed }: MailReputation): string {
  if (!isSlowed) return ''
  return `. Кодов на адреса, которых нет, за час: ${refused}, сетей: ${networks}; письма новым адресам уходят медленно`
}

function backupLine(state: BackupState): string {
  const { at, bytes, failed, commandFailed, verifiedAt, verificationFailed } = state
  const last =
    at === null
      ? 'ещё не делалась'
      : `${formatOperatorTime(at)}, ${formatSize(bytes)}, ${verifiedAt ? `проверялась ${formatOperatorTime(verifiedAt)}` : 'ещё не проверялась'}`
  const made = [
    last,
    ...(failed === null ? [] : [`Последняя не удалась: ${failed}`]),
    ...(commandFailed === null ? [] : [`Последняя осталась только здесь, ${commandFailed}`]),
    ...(verificationFailed === null ? [] : [`Последняя не прошла проверку: ${verificationFailed}`]),
  ]
  return made.join('. ')
}

const WAIT_MS = 2000
const SHOWN = 10

/** Asks the node at HOST and PORT for its refused networks. Returns null if it does not answer. */
async function readRefusedNetworks({ db, config }: Context): Promise<RefusedNetwork[] | null> {
  try {
    const headers = await questionHeader(db, config)
    const signal = AbortSignal.timeout(WAIT_MS)
    const answer = await fetch(nodeOriginOf(config) + IDENTITY_PATH, { headers, signal })
    return answer.ok ? ((await answer.json()) as DoctorRequest).refused : null
  } catch {
    return null
  }
}

/** Names the networks that the node refused most requests; null: the node did not answer. */
function refusedNetworkLines(refused: RefusedNetwork[] | null): string[] {
  if (!refused) return ['Отказы:     узел не отвечает']
  const [worst] = refused
  if (!worst) return []
  const lines = refused.slice(0, SHOWN).map(({ network, refused: count, routes }) => {
    const counts = Object.entries(routes).map(([route, times]) => `${route} × ${times}`)
    return `            ${network} × ${count}: ${counts.join(', ')}`
  })
  return [
    `Отказы:     сетей, которым этот узел за 10 минут отказал больше десяти раз: ${refused.length}`,
    ...lines,
    `            Закрыть: vslukh ban add network ${worst.network} --all --for 1h`,
  ]
}
