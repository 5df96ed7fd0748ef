import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { SiteText, TextName } from '../../contract/texts.ts'
import { call } from '../api/call.ts'

const keyOf = (name: TextName) => ['text', name]

/** Puts a text where useText finds it. */
export function seedText(client: QueryClient, name: TextName, text: SiteText): void {
  client.setQueryData(keyOf(name), text)
}

/** A text of the site, read once a visit. */
export function useText(name: TextName) {
  return useQuery({
    queryKey: keyOf(name),
    queryFn: ({ signal }) => call('GET /texts/:name', { params: { name } }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}
