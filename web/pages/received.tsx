import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { receivedSource } from '../answers/received.queries.ts'
import { PostFeed } from '../feed/post-feed.tsx'
import { ReceivedCard } from '../feed/received-card.tsx'
import { useEntry } from '../history/entry.tsx'
import { usePageTitle } from '../history/use-page-title.ts'
import { WallLink } from './wall.tsx'

/** /replies */
export function ReceivedPage() {
  usePageTitle('Ответы мне')
  const client = useQueryClient()
  const { key } = useEntry()
  const source = useMemo(() => receivedSource(client, key), [client, key])
  return (
    <PostFeed
      source={source}
      label="Ответы мне"
      card={ReceivedCard}
      emptyNote="Здесь появятся ответы на ваши записи"
      endText="Это все ответы"
      emptyAction={<WallLink />}
    />
  )
}
