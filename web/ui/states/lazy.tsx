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
  const { fallback, onError, ...rest } = options

  function fail(): void {
    void tellNotLoaded()
    onError?.()
  }

  return (
    <ErrorBoundary fallback={fallback} onError={onError && fail}>
      <Attempt {...rest} />
    </ErrorBoundary>
  )
}

type AttemptProps<Props extends object> = Pick<LazyProps<Props>, 'chunk' | 'loading' | 'props'>

/** Shows a chunk that is loaded, or waits for it. A retry after a failure is another attempt. */
function Attempt<Props extends object>({ chunk, loading, props }: AttemptProps<Props>) {
  // Decided once: React keeps no state of a component that suspends.
  const [content] = useState(() => chunk.content() ?? chunk.load())
  const [, setIsLoaded] = useState(false)
  // React shows a fallback for at least 300 ms, unless another update is rendered.
  useEffect(() => {
    if (content instanceof Promise) {
      content.then(
        () => startTransition(() => setIsLoaded(true)),
        () => {},
      )
    }
  }, [content])
  return (
    <Suspense fallback={loading}>
      <Loaded content={content} props={props} />
    </Suspense>
  )
}

type LoadedProps<Props extends object> = Pick<LazyProps<Props>, 'props'> & {
  content: ComponentType<Props> | Promise<ComponentType<Props>>
}

function Loaded<Props extends object>({ content, props }: LoadedProps<Props>) {
  const Content = content instanceof Promise ? use(content) : content
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
