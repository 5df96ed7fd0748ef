import { TITLES } from '../../contract/pages.ts'
import { usePageTitle } from '../browser/use-page-title.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { WallLink } from './wall.tsx'

/** Every path that is no page. */
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
