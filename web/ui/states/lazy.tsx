import {
  type ComponentType,
  type ReactNode,
  Suspense,
  startTransition,
  use,
  useEffect,
  useState,
} from 'react'
import { canReload, type LazyChunk } from '../../platform/lazy-chunk.ts'
import { toast } from '../overlay/toaster.tsx'
import { ErrorBoundary, type ErrorBoundaryProps } from './error-boundary.tsx'

type LazyProps<Props extends object> = Omit<ErrorBoundaryProps, 'children'> & {
  chunk: LazyChunk<ComponentType<Props>>
  loading?: ReactNode
  props: Props
}

/** Shows a chunk, and catches failures of it or its load. `onError` adds a toast about them. */
export function Lazy<Props extends object>(options: LazyProps<Props>) {
  const { chunk, loading, props, fallback, onError } = options
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
        <Loaded chunk={chunk} attempt={attempt} props={props} />
      </Suspense>
    </ErrorBoundary>
  )
}

type LoadedProps<Props extends object> = Pick<LazyProps<Props>, 'chunk' | 'props'> & {
  attempt: Promise<ComponentType<Props>>
}

function Loaded<Props extends object>({ chunk, attempt, props }: LoadedProps<Props>) {
  const Content = chunk.content() ?? use(attempt)
  return <Content {...props} />
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
