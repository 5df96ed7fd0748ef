import { useMemo } from 'react'
import { receivedSource } from '../answers/received.queries.ts'
import { postsOfSource, repliesOfSource } from '../authors/authors.queries.ts'
import { NoPosts, PostFeed } from '../feed/post-feed.tsx'
import { ReceivedCard } from '../feed/received-card.tsx'
import { useEntry } from '../history/entry.tsx'
import { usePageTitle } from '../history/use-page-title.ts'
import { RemovedPosts } from '../moderation/appeals/removed-posts.tsx'
import { likedSource } from '../posts/cache/posts.queries.ts'
import type { ListSource } from '../posts/cache/use-post-list.ts'
import { writePost } from '../session/intents.ts'
import { useUser } from '../session/viewer.ts'
import { Button } from '../ui/button.tsx'
import { WallLink } from './wall.tsx'

/** /liked */
export function LikedPage() {
  usePageTitle('Понравившиеся')
  return (
    <PostFeed
      source={likedSource}
      label="Понравившиеся"
      empty={<NoPosts note="Этот список видите только вы" action={<WallLink />} />}
    />
  )
}

/** /own/posts */
export function OwnPostsPage() {
  usePageTitle('Мои записи')
  const source = useOwnSource(postsOfSource)
  return (
    source && (
      <RemovedPosts>
        <PostFeed
          source={source}
          label="Мои записи"
          empty={
            <NoPosts
              action={
                <Button variant="strong" onClick={writePost}>
                  Новая запись
                </Button>
              }
            />
          }
        />
      </RemovedPosts>
    )
  )
}

/** /own/replies */
export function OwnRepliesPage() {
  usePageTitle('Мои ответы')
  const source = useOwnSource(repliesOfSource)
  return (
    source && (
      <PostFeed
        source={source}
        label="Мои ответы"
        empty={<NoPosts action={<WallLink />} />}
        endText="Это все ответы"
      />
    )
  )
}

/** /replies */
export function ReceivedPage() {
  usePageTitle('Ответы мне')
  const { key } = useEntry()
  const source = useMemo(() => receivedSource(key), [key])
  return (
    <PostFeed
      source={source}
      label="Ответы мне"
      card={ReceivedCard}
      empty={<NoPosts note="Здесь появятся ответы на ваши записи" action={<WallLink />} />}
      endText="Это все ответы"
    />
  )
}

function useOwnSource(sourceOf: (userId: string) => ListSource): ListSource | null {
  const userId = useUser()?.id
  return useMemo(() => (userId === undefined ? null : sourceOf(userId)), [sourceOf, userId])
}
