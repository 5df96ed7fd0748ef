import { searchPosts } from '../../../contract/search.ts'
import type { Route } from '../../kernel/http/route.ts'
import type { Search } from './search.service.ts'

export function registerSearch({ route, search }: { route: Route; search: Search }): void {
  route(searchPosts, ({ query, viewer }, { request }) => search(query, { viewer, ip: request.ip }))
}
