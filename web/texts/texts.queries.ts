import { useQuery } from '@tanstack/react-query'
import type { SiteText, TextName } from '../../contract/texts.ts'
import { call } from '../http/call.ts'
import { queryClient } from '../http/query-client.ts'

const keyOf = (name: TextName) => ['text', name]

export function seedText(name: TextName, text: SiteText): void {
  queryClient.setQueryData(keyOf(name), text)
}

/** Reads a text once, until the page is loaded anew. */
export function useText(name: TextName) {
  return useQuery({
    queryKey: keyOf(name),
    queryFn: ({ signal }) => call('GET /texts/:name', { params: { name } }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    meta: { outlivesViewer: true },
  })
}
