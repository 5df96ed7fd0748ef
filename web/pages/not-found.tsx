import { Link } from 'react-router'
import { PATHS, TITLES } from '../../contract/pages.ts'
import { usePageTitle } from '../browser/use-page-title.ts'
import { buttonLook } from '../ui/button-look.ts'
import { EmptyState } from '../ui/empty-state.tsx'

/** Any path that leads nowhere. */
export function NotFoundPage() {
  usePageTitle(TITLES.noPage, 'tab')
  return (
    <EmptyState
      isWholePage
      title={TITLES.noPage}
      text="Проверьте корректность адреса"
      action={
        <Link to={PATHS.wall} className={buttonLook({ variant: 'strong' })}>
          На стену
        </Link>
      }
    />
  )
}
