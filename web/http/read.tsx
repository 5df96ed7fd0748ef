import type { ReactNode } from 'react'
import { ErrorPage, ErrorRow } from '../ui/errors.tsx'
import { errorMessage } from './error-message.ts'

type ReadProps<Data> = {
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown }
  /** Stands in place of the data until it is there. */
  loading: ReactNode
  /** Whether an error takes a row only, because other things stand around it. */
  inRow?: boolean
  children: (data: Data) => ReactNode
}

/** Shows what a query has read. What is there stays while it is read again, also in vain. */
export function Read<Data>({ query, loading, inRow = false, children }: ReadProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (!error) return loading
  const ErrorMessage = inRow ? ErrorRow : ErrorPage
  return <ErrorMessage text={errorMessage(error)} onRetry={refetch} />
}
