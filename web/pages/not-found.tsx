import { TITLES } from '../../contract/pages.ts'
import { usePageTitle } from '../history/use-page-title.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { WallLink } from './wall.tsx'

/**
 * The same for everybody: a moderator who signs in here finds the queue where it is, and nobody else
 * learns that it is there.
 */
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
