import { type ReactNode, Suspense, startTransition, use, useEffect, useState } from 'react'
import { canReload, type LazyChunk } from '../../platform/lazy-chunk.ts'
import { toast } from '../overlay/toaster.tsx'
import { ErrorBoundary, type ErrorBoundaryProps } from './error-boundary.tsx'

type LazyProps<Content> = Omit<ErrorBoundaryProps, 'children'> & {
  chunk: LazyChunk<Content>
  loading: ReactNode
  children: (content: Content) => ReactNode
}

/** Shows a chunk, and catches failures of it or its load. `onError` adds a toast about them. */
export function Lazy<Content>(props: LazyProps<Content>) {
  const { chunk, loading, fallback, onError, children } = props
  const [attempt] = useState(chunk.load)
  const [, setIsLoaded] = useState(() => chunk.content() !== undefined)
  // React shows a fallback for at least 300 ms, unless another update is rendered.
  useEffect(() => {
    attempt.then(
      () => startTransition(() => setIsLoaded(true)),
      () => {},
    )
  }, [attempt])

  function fail(): void {
    void tellNotLoaded()
    onError?.()
  }

  return (
    <ErrorBoundary fallback={fallback} onError={onError && fail}>
      <Suspense fallback={loading}>
        <Loaded chunk={chunk} attempt={attempt}>
          {children}
        </Loaded>
      </Suspense>
    </ErrorBoundary>
  )
}

type LoadedProps<Content> = Pick<LazyProps<Content>, 'chunk' | 'children'> & {
  attempt: Promise<Content>
}

function Loaded<Content>({ chunk, attempt, children }: LoadedProps<Content>) {
  return children(chunk.content() ?? use(attempt))
}

/**
 * Shows that a chunk was not loaded. If the server answers, the network is not the cause: a release
 * removed the chunk, or the browser remembers the failure. Then offers a reload.
 */
async function tellNotLoaded(): Promise<void> {
  if (await canReload()) {
    const link = { label: 'Обновить страницу', onSelect: () => location.reload() }
    toast({ text: 'Не получилось загрузить', link })
  } else {
    toast({ text: 'Не получилось загрузить. Проверьте связь и нажмите ещё раз' })
  }
}
