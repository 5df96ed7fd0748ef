import { Link } from 'react-router'
import { PATHS, TITLES } from '../../contract/pages.ts'
import { usePageTitle } from '../browser/use-page-title.ts'
import { buttonClass } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'

/** Every path that is no page. */
export function NotFoundPage() {
  usePageTitle(TITLES.noPage, 'tab')
  return (
    <EmptyState
      isWholePage
      title={TITLES.noPage}
      text="Проверьте корректность адреса"
      action={
        <Link to={PATHS.wall} className={buttonClass({ variant: 'strong' })}>
          На стену
        </Link>
      }
    />
  )
}
