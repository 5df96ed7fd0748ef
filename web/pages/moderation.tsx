import { usePageTitle } from '../history/use-page-title.ts'
import { ModerationQueue } from '../moderation/queue/moderation-queue.tsx'

/** /moderation */
export function ModerationPage() {
  usePageTitle('Модерация')
  return <ModerationQueue />
}
