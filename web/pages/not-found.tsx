import { Link } from 'react-router'
import { usePageTitle } from '../lib/use-page-title.ts'
import { buttonLook } from '../ui/button-look.ts'
import { EmptyState } from '../ui/empty-state.tsx'

/** Any path that leads nowhere. */
export function NotFoundPage() {
  usePageTitle('Страница не существует', 'tab')
  return (
    <EmptyState
      isWholePage
      title="Страница не существует"
      text="Проверьте корректность адреса"
      action={
        <Link to="/" className={buttonLook({ variant: 'strong' })}>
          На стену
        </Link>
      }
    />
  )
}
