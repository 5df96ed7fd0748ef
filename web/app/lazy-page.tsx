import type { ComponentType } from 'react'
import { type LazyChunk, reloadIfPossible, useLazyChunk } from '../browser/lazy-chunk.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loading } from '../ui/spinner.tsx'

/** A page in a lazy chunk. If the chunk fails, it is fetched again by a button, and whenever the page is opened anew. */
export function LazyPage({ chunk }: { chunk: LazyChunk<ComponentType> }) {
  const { content: Content, failed, retry } = useLazyChunk(chunk)

  async function retryOrReload(): Promise<void> {
    // Some browsers remember that a script failed, and a release may have removed it: only a reload helps then.
    if (!(await retry())) await reloadIfPossible()
  }

  if (Content) return <Content />
  return failed ? <PageFailure onRetry={retryOrReload} /> : <Loading label="Загружаем страницу" />
}

/** Shown in place of a page that failed to load or to render. The button is pending until `onRetry` settles. */
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
