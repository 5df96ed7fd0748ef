import type { OwnReport } from '../../../contract/moderation.ts'
import { PATHS } from '../../../contract/pages.ts'
import { plural } from '../../format/counts.ts'
import { localStore } from '../../platform/storage.ts'
import { readRemovedPosts } from '../../posts/cache/moderated.queries.ts'
import { viewerId } from '../../session/viewer.ts'
import { NEWS, toast } from '../../ui/overlay/toaster.tsx'
import { readOwnReports } from './outcomes.queries.ts'

const REPORT_FORMS = { one: 'жалобу', few: 'жалобы', many: 'жалоб' }
const REMOVED_FORMS = { one: 'вашу запись', few: 'ваши записи', many: 'ваших записей' }

/** Shows toasts about removals and outcomes that this browser has not shown. Throws CallError. */
export async function showDecisions(hasNewOutcomes: boolean, lastRemoval = 0): Promise<void> {
  const userId = viewerId()
  if (userId === null) return
  const removals = removalsOf(userId)
  if (lastRemoval > shownUntil(removals)) await showRemovals(removals, lastRemoval)
  if (hasNewOutcomes) await showOutcomes(`told-outcomes ${userId}`)
}

/** Stores that the viewer has seen a removal, and all removals before it. */
export function storeSeenRemoval(at: number): void {
  storeShownUntil(removalsOf(viewerId()), at)
}

const removalsOf = (userId: string | null) => `told-removal ${userId}`

async function showRemovals(key: string, last: number): Promise<void> {
  const { posts } = await readRemovedPosts()
  const times = posts.filter(({ state }) => state === 'removed').map(({ removedAt }) => removedAt)
  const count = times.filter((at) => at > shownUntil(key)).length
  storeShownUntil(key, Math.max(last, ...times))
  // The page of the viewer's posts lists them itself, maybe a moment later.
  if (count === 0 || location.pathname === PATHS.ownPosts) return
  const number = count > 1 ? `${count}\u00a0` : ''
  const link = { label: 'Смотреть', to: PATHS.ownPosts }
  toast({ text: `Модератор удалил ${number}${plural(count, REMOVED_FORMS)}`, link }, NEWS)
}

async function showOutcomes(key: string): Promise<void> {
  const { reports } = await readOwnReports()
  const until = shownUntil(key)
  const decided = reports.filter(({ isNew, decidedAt }) => isNew && (decidedAt ?? 0) > until)
  if (decided.length === 0) return
  storeShownUntil(key, Math.max(...decided.map(({ decidedAt }) => decidedAt ?? 0)))
  toast({ text: sentenceOf(decided), link: { label: 'Смотреть', to: PATHS.reports } }, NEWS)
}

/** Returns the unix second until which toasts of this browser have told the news. */
function shownUntil(key: string): number {
  return Number(localStore.read(key) ?? 0)
}

function storeShownUntil(key: string, at: number): void {
  if (at > shownUntil(key)) localStore.write(key, String(at))
}

function sentenceOf(decided: readonly OwnReport[]): string {
  const [first] = decided
  if (decided.length > 1) {
    return `Рассмотрели ${decided.length}\u00a0${plural(decided.length, REPORT_FORMS)}`
  }
  return first?.outcome === 'removed'
    ? 'Спасибо: по вашей жалобе запись удалена'
    : 'Вашу жалобу рассмотрели: нарушения не нашли'
}
