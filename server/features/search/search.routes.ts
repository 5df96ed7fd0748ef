import { searchPosts } from '../../../contract/search.ts'
import type { Node } from '../../kernel/feature.ts'
import type { Search } from './search.service.ts'

export function registerSearch({ route }: Node, search: Search): void {
  route(searchPosts, ({ query, viewer }, { request }) => search(query, { viewer, ip: request.ip }))
}
