import { TITLES } from '../../contract/pages.ts'
import { usePageTitle } from '../history/entry.tsx'
import { EmptyState } from '../ui/states/empty-state.tsx'
import { WallLink } from './wall.tsx'

/** Shows that a page does not exist, also for the queue to everybody but moderators. */
export function NotFoundPage() {
  usePageTitle(TITLES.noPage, 'tab')
  return (
    <EmptyState
      isWholePage
      title={TITLES.noPage}
      text="Проверьте корректность адреса"
      action={<WallLink />}
    />
  )
}
