import { usePageTitle } from '../browser/use-page-title.ts'
import { PostFeed } from '../feed/post-feed.tsx'
import { likedSource } from '../posts/cache/post-sources.ts'

/** /liked */
export function LikedPage() {
  usePageTitle('Понравившиеся')
  return <PostFeed source={likedSource} label="Понравившиеся" />
}
