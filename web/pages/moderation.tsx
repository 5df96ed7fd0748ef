import { usePageTitle } from '../browser/use-page-title.ts'
import { ModerationQueue } from '../moderation/moderation-queue.tsx'

/** /moderation */
export function ModerationPage() {
  usePageTitle('Жалобы')
  return <ModerationQueue />
}
