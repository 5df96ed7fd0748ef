import { PostFeed } from '../feed/post-feed.tsx'
import { usePageTitle } from '../lib/use-page-title.ts'
import { likedSource } from '../posts/post-sources.ts'

/** /liked */
export function LikedPage() {
  usePageTitle('Понравившиеся')
  return <PostFeed source={likedSource} label="Понравившиеся" />
}
