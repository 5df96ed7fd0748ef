import { usePageTitle } from '../browser/use-page-title.ts'
import { PostFeed } from '../feed/post-feed.tsx'
import { ownRepliesSource } from '../replies/reply-sources.ts'

/** /own/replies */
export function OwnRepliesPage() {
  usePageTitle('Мои ответы')
  return <PostFeed source={ownRepliesSource} label="Мои ответы" />
}
