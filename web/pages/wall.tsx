import { TITLES } from '../../contract/pages.ts'
import { usePageTitle } from '../browser/use-page-title.ts'
import { PostFeed } from '../feed/post-feed.tsx'
import { wallSource } from '../posts/cache/post-sources.ts'

/** / */
export function WallPage() {
  usePageTitle(TITLES.wall)
  return <PostFeed source={wallSource} label="Стена" watchesNew />
}
