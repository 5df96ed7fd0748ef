import type { ReactNode } from 'react'
import { ErrorPage, ErrorRow } from '../ui/states/errors.tsx'
import { errorMessage } from './error-message.ts'

type ReadProps<Data> = {
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown }
  loading: ReactNode
  /** Whether an error takes only a row, because other content surrounds it. */
  inRow?: boolean
  children: (data: Data) => ReactNode
}

/** Shows the data of a query. The data stays while it is read again, even if that fails. */
export function Read<Data>({ query, loading, inRow = false, children }: ReadProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (!error) return loading
  const ErrorMessage = inRow ? ErrorRow : ErrorPage
  return <ErrorMessage text={errorMessage(error)} onRetry={refetch} />
}
