import { HOUR, MINUTE } from './clock.ts'
import type { Person } from './model.ts'
import { DECISIONS } from './moderating.ts'
import type { ArrivedMail } from './relay.ts'
import { SUBJECTS } from './settings.ts'
import type { World } from './world.ts'

export const MODERATOR = 'moderators@wall.example'

const QUEUE = /^(Жалобы ждут решения|Жалобы больше не скрывают)/
const BACKUPS = /^Копии стены не в порядке/
/** What waits for an answer of the mail server may be late by as much as it is down. */
const NOTICES_WITHIN = 9 * HOUR
const CODE_MINUTES = 21
const EXPECTED = [...Object.values(DECISIONS), SUBJECTS.emailChanged, SUBJECTS.deleted]
/** The queue looks every five minutes, and the driver's clock lets it be late by nine. */
const DIGEST_WITHIN = 90 * MINUTE
const DIGEST_GAP = 55 * MINUTE
/** A mail may be on its way when an account is erased. */
const IN_FLIGHT = 10 * MINUTE
const REPLIES_GAP = 20 * HOUR

/** Compares mails with what they must have been about. Looks at each mail once. */
export class MailJudge {
  readonly #world: World
  readonly #byId = new Map<string, ArrivedMail>()
  readonly #digests: number[] = []
  #judged = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Returns how many mails of each kind have come since the last time. */
  judge(): Record<string, number> {
    const { relay } = this.#world
    const fresh = relay.mails.slice(this.#judged)
    this.#judged = relay.mails.length
    const kinds: Record<string, number> = {}
    for (const mail of fresh) {
      const kind = mail.code ? 'codes' : (mail.subject.split(/ · |:/)[0] ?? '')
      kinds[kind] = (kinds[kind] ?? 0) + 1
      this.#judgeMail(mail)
    }
    this.#judgeMissing()
    this.#judgeDigests()
    return kinds
  }

  #judgeMail(mail: ArrivedMail): void {
    const { findings, model } = this.#world
    const { to, subject, id, at, steadyAt } = mail
    const before = this.#byId.get(id)
    if (before && !before.isUnanswered && !this.#couldNotBeStored(before)) {
      const seconds = (steadyAt - before.steadyAt) / 1000
      findings.add('a mail came twice', { to, subject, seconds })
    }
    const isRepeated = before !== undefined
    this.#byId.set(id, mail)
    if (mail.code) this.#judgeCode(mail)
    if (EXPECTED.some((start) => subject.startsWith(start)) && !isRepeated) this.#consume(mail)
    if (subject.startsWith(SUBJECTS.replies) && !isRepeated) this.#judgeReplies(mail)
    if (to === MODERATOR && QUEUE.test(subject) && !isRepeated) {
      const last = this.#digests.at(-1)
      const isSoon = last !== undefined && steadyAt - last < DIGEST_GAP
      if (isSoon && this.#world.wasWell(last, steadyAt) && !/больше/.test(subject))
        findings.add('moderators got two mails within an hour', { subject })
      this.#digests.push(steadyAt)
    }
    if (BACKUPS.test(subject) && !this.#mayHaveFailed(steadyAt))
      findings.add('a mail says that backups are broken')
    if (!subject.startsWith(SUBJECTS.replies)) return
    const isGone = ({ email, isErased, deletedAt = at }: Person) =>
      email === to && isErased && at > deletedAt + IN_FLIGHT
    if (model.people.some(isGone)) findings.add('an erased person got a mail', { to })
  }

  /** Whether the disk was full when a mail was sent: the server may send again what it cannot store. */
  #couldNotBeStored({ steadyAt }: ArrivedMail): boolean {
    return this.#world.wounds.some(
      ({ name, from, to }) => name === 'disk of DATA_DIR full' && from < steadyAt && steadyAt < to,
    )
  }

  /** Whether a full disk, a kill or a machine that was off may have cost a backup within two days. */
  #mayHaveFailed(at: number): boolean {
    return this.#world.wounds.some(
      ({ name, to }) => /full|SIGKILL|off/.test(name) && at < to + 48 * HOUR,
    )
  }

  #judgeCode({ to, steadyAt }: ArrivedMail): void {
    const { model, findings } = this.#world
    const asked = model.codes.filter(({ email }) => email === to)
    const last = asked.findLast((code) => code.steadyAt <= steadyAt + 1000)
    if (!last) return
    const minutes = (steadyAt - last.steadyAt) / MINUTE
    if (minutes > CODE_MINUTES) findings.add('a code came after it had expired', { to, minutes })
    for (const code of asked) {
      if (Math.abs(code.steadyAt - steadyAt) < CODE_MINUTES * MINUTE) code.hasCome = true
    }
  }

  /** Finds the act that a notice is about. */
  #consume({ to, subject }: ArrivedMail): void {
    const { model, findings } = this.#world
    const isAbout = (one: { to: string; subject: string }) =>
      one.to === to && subject.startsWith(one.subject)
    const at = model.mails.findIndex(isAbout)
    if (at !== -1) model.mails.splice(at, 1)
    const person = model.people.find(({ email, formerEmails }) =>
      [email, ...formerEmails].includes(to),
    )
    const isUnsure = person?.isUnsure ?? true
    const posts = person?.posts.flatMap((id) => model.posts.get(id) ?? []) ?? []
    if (
      at === -1 &&
      !isUnsure &&
      person?.deletedAt === undefined &&
      !posts.some((it) => it.isUnsure)
    )
      findings.add(`a mail came that nothing caused: ${subject}`, { to })
  }

  #judgeReplies({ to, steadyAt }: ArrivedMail): void {
    const { model, findings } = this.#world
    const last = model.replyMails.get(to)
    if (last !== undefined && steadyAt - last < REPLIES_GAP)
      findings.add('two mails about replies came on one day', {
        to,
        hours: (steadyAt - last) / HOUR,
      })
    model.replyMails.set(to, steadyAt)
  }

  #judgeMissing(): void {
    const { model, clock, findings } = this.#world
    const now = clock.steady()
    for (const mail of model.mails) {
      if (mail.isReported || now - mail.steadyAt < NOTICES_WITHIN) continue
      mail.isReported = true
      findings.add(`a mail never came: ${mail.subject}`, { to: mail.to })
    }
    for (const code of model.codes) {
      const isDue = code.wasWell && !code.hasCome && !code.isReported && now - code.steadyAt > HOUR
      if (!isDue || !this.#world.wasWell(code.steadyAt)) continue
      code.isReported = true
      findings.add('a code never came', { to: code.email })
    }
    model.codes = model.codes.filter(({ steadyAt }) => now - steadyAt < 48 * HOUR)
  }

  /** A mail to the moderators follows each report that stays open, unless one came within the hour. */
  #judgeDigests(): void {
    const { model, clock, findings, wounds } = this.#world
    const difference = clock.steady() - clock.now()
    for (const report of model.reports) {
      const from = report.at + difference
      const to = from + DIGEST_WITHIN
      if (report.isJudged || to > clock.steady()) continue
      report.isJudged = true
      if ((report.closedAt ?? Number.POSITIVE_INFINITY) < report.at + DIGEST_WITHIN) continue
      const post = model.posts.get(report.postId)
      if (!post || post.deletedAt !== undefined || model.owner(post).deletedAt !== undefined)
        continue
      const isCalm = !wounds.some((wound) => from < wound.to + 6 * HOUR && to > wound.from)
      const hasCome = this.#digests.some((at) => at >= from - MINUTE && at <= to)
      if (isCalm && !hasCome) findings.add('moderators got no mail about a report', { ...report })
    }
  }
}
