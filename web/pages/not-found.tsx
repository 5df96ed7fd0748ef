import { TITLES } from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { usePageTitle } from '../history/use-page-title.ts'
import { withViewer } from '../session/intents.ts'
import { useViewer } from '../session/viewer.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import styles from './not-found.module.css'
import { WallLink } from './wall.tsx'

/**
 * Visitors can sign in at every path that is no page: a moderator finds the queue after that, and
 * nobody else learns that it is there.
 */
export function NotFoundPage() {
  usePageTitle(TITLES.noPage, 'tab')
  const { pathname } = useEntry()
  const isVisitor = useViewer().state === 'signed-out'
  return (
    <EmptyState
      isWholePage
      title={TITLES.noPage}
      text={
        isVisitor
          ? 'Проверьте корректность адреса или войдите: некоторые страницы видны только после входа'
          : 'Проверьте корректность адреса'
      }
      action={
        <div className={styles.actions}>
          <WallLink />
          {isVisitor && (
            <Button onClick={() => withViewer({ name: 'go', path: pathname })}>Войти</Button>
          )}
        </div>
      }
    />
  )
}
