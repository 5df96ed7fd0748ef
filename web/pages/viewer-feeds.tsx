import { useMemo } from 'react'
import { PostFeed } from '../feed/post-feed.tsx'
import { usePageTitle } from '../history/use-page-title.ts'
import { RemovedPosts } from '../moderation/appeals/removed-posts.tsx'
import { likedSource, ownPostsSource } from '../posts/cache/posts.queries.ts'
import { ownRepliesSource } from '../replies/replies.queries.ts'
import { withViewer } from '../session/intents.ts'
import { useViewer } from '../session/viewer.ts'
import { Button } from '../ui/button.tsx'
import { WallLink } from './wall.tsx'

/** /liked */
export function LikedPage() {
  usePageTitle('Понравившиеся')
  return <PostFeed source={likedSource} label="Понравившиеся" emptyAction={<WallLink />} />
}

/** /own/posts */
export function OwnPostsPage() {
  usePageTitle('Мои записи')
  const viewer = useViewer()
  const userId = viewer.state === 'authorized' ? viewer.user.id : null
  const source = useMemo(() => (userId === null ? null : ownPostsSource(userId)), [userId])
  return (
    source && (
      <>
        <RemovedPosts />
        <PostFeed source={source} label="Мои записи" emptyAction={<NewPostButton />} />
      </>
    )
  )
}

/** /own/replies */
export function OwnRepliesPage() {
  usePageTitle('Мои ответы')
  return <PostFeed source={ownRepliesSource} label="Мои ответы" emptyAction={<WallLink />} />
}

function NewPostButton() {
  return (
    <Button variant="strong" onClick={() => void withViewer({ name: 'new-post' })}>
      Новая запись
    </Button>
  )
}
