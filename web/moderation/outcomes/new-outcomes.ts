import type { OwnReport } from '../../../contract/moderation.ts'
import { PATHS } from '../../../contract/pages.ts'
import { plural } from '../../format/counts.ts'
import { localStore } from '../../platform/storage.ts'
import { readRemovedPosts } from '../../posts/cache/moderated.queries.ts'
import { viewerId } from '../../session/viewer.ts'
import { toast } from '../../ui/overlay/toaster.tsx'
import { readOwnReports } from './outcomes.queries.ts'

const REPORT_FORMS = { one: 'жалобу', few: 'жалобы', many: 'жалоб' }
const REMOVED_FORMS = { one: 'вашу запись', few: 'ваши записи', many: 'ваших записей' }

/** Shows toasts about removals and outcomes that this browser has not shown. Throws CallError. */
export async function tellNews(hasNewOutcomes: boolean, lastRemoval = 0): Promise<void> {
  const userId = viewerId()
  if (userId === null) return
  const removals = removalsOf(userId)
  if (lastRemoval > toldUntil(removals)) await tellRemovals(removals, lastRemoval)
  if (hasNewOutcomes) await tellNewOutcomes(`told-outcomes ${userId}`)
}

/** Stores that the viewer has seen a removal, and all removals before it. */
export function noteRemoval(at: number): void {
  note(removalsOf(viewerId()), at)
}

const removalsOf = (userId: string | null) => `told-removal ${userId}`

async function tellRemovals(key: string, last: number): Promise<void> {
  const { posts } = await readRemovedPosts()
  const times = posts.filter(({ state }) => state === 'removed').map(({ removedAt }) => removedAt)
  const count = times.filter((at) => at > toldUntil(key)).length
  note(key, Math.max(last, ...times))
  // The page of the viewer's posts lists them itself, maybe a moment later.
  if (count === 0 || location.pathname === PATHS.ownPosts) return
  const number = count > 1 ? `${count}\u00a0` : ''
  toast({
    text: `Модератор удалил ${number}${plural(count, REMOVED_FORMS)}`,
    link: { label: 'Смотреть', to: PATHS.ownPosts },
  })
}

async function tellNewOutcomes(key: string): Promise<void> {
  const { reports } = await readOwnReports()
  const until = toldUntil(key)
  const decided = reports.filter(({ isNew, decidedAt }) => isNew && (decidedAt ?? 0) > until)
  if (decided.length === 0) return
  note(key, Math.max(...decided.map(({ decidedAt }) => decidedAt ?? 0)))
  toast({ text: sentenceOf(decided), link: { label: 'Смотреть', to: PATHS.reports } })
}

/** Returns the unix second until which toasts of this browser have told the news. */
function toldUntil(key: string): number {
  return Number(localStore.read(key) ?? 0)
}

function note(key: string, at: number): void {
  if (at > toldUntil(key)) localStore.write(key, String(at))
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
