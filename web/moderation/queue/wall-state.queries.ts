import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Answer } from '../../../contract/endpoint.ts'
import type { readWallState } from '../../../contract/moderation.ts'
import { call } from '../../http/call.ts'
import { outdatedPause } from '../../http/query-client.ts'

export type StateLine = Answer<typeof readWallState>['lines'][number]

const REFRESH_MS = 60_000

const stateQuery = queryOptions({
  queryKey: ['wall-state'],
  queryFn: ({ signal }) => call('GET /moderation/state', {}, { signal }),
  staleTime: 0,
  refetchInterval: ({ state }) => outdatedPause(state) || REFRESH_MS,
})

export const useWallState = () => useQuery(stateQuery)
