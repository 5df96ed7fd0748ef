import { Button } from '../ui/button.tsx'
import { couldReload } from '../ui/could-reload.ts'
import { EmptyState } from '../ui/empty-state.tsx'

/** Stands in place of a page that could not be shown. The button is pending until what it does has settled. */
export function PageFailure({ onRetry }: { onRetry: () => Promise<void> }) {
  return (
    <div role="alert">
      <EmptyState
        isWholePage
        title="Не удалось открыть страницу"
        text="Проверьте интернет и попробуйте ещё раз"
        action={
          <Button variant="strong" onClick={onRetry}>
            Обновить
          </Button>
        }
      />
    </div>
  )
}

/** Reloads, but only where there is something to reload from: else all that is on the screen would be gone. */
export async function reloadIfPossible(): Promise<void> {
  if (await couldReload()) location.reload()
}
