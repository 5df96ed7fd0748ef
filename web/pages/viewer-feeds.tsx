import { receivedSource } from '../answers/received.queries.ts'
import { postsOfSource, repliesOfSource } from '../authors/authors.queries.ts'
import { NoPosts, PostFeed } from '../feed/post-feed.tsx'
import { ReceivedCard } from '../feed/received-card.tsx'
import { useEntry, usePageTitle } from '../history/entry.tsx'
import { RemovedPosts } from '../moderation/appeals/removed-posts.tsx'
import { likedSource } from '../posts/cache/posts.queries.ts'
import { openNewPost } from '../session/intents.ts'
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
  const user = useUser()
  return (
    user && (
      <RemovedPosts>
        <PostFeed
          source={postsOfSource(user.id)}
          label="Мои записи"
          empty={
            <NoPosts
              action={
                <Button variant="strong" onClick={openNewPost}>
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
  const user = useUser()
  return (
    user && (
      <PostFeed
        source={repliesOfSource(user.id)}
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
  return (
    <PostFeed
      source={receivedSource(key)}
      label="Ответы мне"
      card={ReceivedCard}
      empty={
        <NoPosts note="Здесь появятся ответы на ваши записи и упоминания" action={<WallLink />} />
      }
      endText="Это все ответы"
    />
  )
}
