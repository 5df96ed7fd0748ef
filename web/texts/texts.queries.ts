import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { SiteText, TextName } from '../../contract/texts.ts'
import { call } from '../http/call.ts'

const keyOf = (name: TextName) => ['text', name]

export function seedText(client: QueryClient, name: TextName, text: SiteText): void {
  client.setQueryData(keyOf(name), text)
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
