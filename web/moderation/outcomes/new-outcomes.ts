import type { OwnReport } from '../../../contract/moderation.ts'
import { PATHS } from '../../../contract/pages.ts'
import { plural } from '../../format/counts.ts'
import { localStore } from '../../platform/storage.ts'
import { viewerId } from '../../session/viewer.ts'
import { toast } from '../../ui/overlay/toaster.tsx'
import { readOwnReports } from './outcomes.queries.ts'

const FORMS = { one: 'жалобу', few: 'жалобы', many: 'жалоб' }

/** Shows toasts about removals and outcomes that this browser has not shown. Throws CallError. */
export async function tellNews(hasNewOutcomes: boolean, lastRemoval = 0): Promise<void> {
  const userId = viewerId()
  if (userId === null) return
  if (noteRemoval(lastRemoval)) {
    toast({
      text: 'Модератор удалил вашу запись',
      link: { label: 'Смотреть', to: PATHS.ownPosts },
    })
  }
  if (hasNewOutcomes) await tellNewOutcomes(userId)
}

/** Stores that the viewer has seen a removal. Returns false if it, or a later one, was stored. */
export function noteRemoval(at: number): boolean {
  const key = `told-removal ${viewerId()}`
  const isNews = at > Number(localStore.read(key) ?? 0)
  if (isNews) localStore.write(key, String(at))
  return isNews
}

/** Shows a toast about the outcomes that no toast has shown, and stores the time of the newest. */
async function tellNewOutcomes(userId: string): Promise<void> {
  const { reports } = await readOwnReports()
  const key = `told-outcomes ${userId}`
  const toldUntil = Number(localStore.read(key) ?? 0)
  const decided = reports.filter(({ isNew, decidedAt }) => isNew && (decidedAt ?? 0) > toldUntil)
  if (decided.length === 0) return
  localStore.write(key, String(Math.max(...decided.map(({ decidedAt }) => decidedAt ?? 0))))
  toast({ text: sentenceOf(decided), link: { label: 'Смотреть', to: PATHS.reports } })
}

function sentenceOf(decided: readonly OwnReport[]): string {
  const [first] = decided
  if (decided.length > 1) {
    return `Рассмотрели ${decided.length}\u00a0${plural(decided.length, FORMS)}`
  }
  return first?.outcome === 'removed'
    ? 'Спасибо: по вашей жалобе запись удалена'
    : 'Вашу жалобу рассмотрели: нарушения не нашли'
}
