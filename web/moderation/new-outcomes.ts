import { call } from '../api/call.ts'
import { localStore } from '../browser/storage.ts'
import { plural } from '../format/counts.ts'

const FORMS = { one: 'жалобу', few: 'жалобы', many: 'жалоб' }

/**
 * Returns the sentence about the viewer's reports that were decided since they were last told in this browser; null where
 * there are none. Throws CallError.
 */
export async function takeNewOutcomes(userId: string): Promise<string | null> {
  const { reports } = await call('GET /users/current/reports', {})
  const key = `told-outcomes ${userId}`
  const toldUntil = Number(localStore.read(key) ?? 0)
  const isUntold = (decidedAt: number | null) => decidedAt !== null && decidedAt > toldUntil
  const fresh = reports.filter(({ isNew, decidedAt }) => isNew && isUntold(decidedAt))
  if (fresh.length === 0) return null
  localStore.write(key, String(Math.max(...fresh.map(({ decidedAt }) => decidedAt ?? 0))))
  const [only] = fresh
  if (fresh.length > 1 || !only) {
    return `Рассмотрели ${fresh.length}\u00a0${plural(fresh.length, FORMS)}`
  }
  return only.outcome === 'removed'
    ? 'Спасибо: по вашей жалобе запись удалена'
    : 'Вашу жалобу рассмотрели: нарушения не нашли'
}
