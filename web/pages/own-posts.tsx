import { useMemo } from 'react'
import { usePageTitle } from '../browser/use-page-title.ts'
import { PostFeed } from '../feed/post-feed.tsx'
import { ownPostsSource } from '../posts/cache/post-sources.ts'
import { useViewer } from '../viewer/viewer.ts'

/** /own/posts */
export function OwnPostsPage() {
  usePageTitle('Мои записи')
  const viewer = useViewer()
  const userId = viewer.state === 'authorized' ? viewer.user.id : null
  const source = useMemo(() => (userId === null ? null : ownPostsSource(userId)), [userId])
  return source && <PostFeed source={source} label="Мои записи" />
}
