import { useMemo } from 'react'
import { cursorIn, PATHS, TITLES } from '../../contract/pages.ts'
import { PostFeed } from '../feed/post-feed.tsx'
import { useEntry } from '../history/entry.tsx'
import { Link } from '../history/link.tsx'
import { usePageTitle } from '../history/use-page-title.ts'
import { wallSource } from '../posts/cache/posts.queries.ts'
import { SiteLinks } from '../texts/site-links.tsx'
import { ThemeToggle } from '../theme/theme-toggle.tsx'
import { buttonClass } from '../ui/button.tsx'

const foot = (
  <SiteLinks>
    <ThemeToggle />
  </SiteLinks>
)

/** /, or a later part of the wall by its cursor. */
export function WallPage() {
  usePageTitle(TITLES.wall)
  const start = cursorIn(useEntry().search)
  const source = useMemo(() => wallSource(start), [start])
  return <PostFeed source={source} label="Стена" foot={foot} />
}

export function WallLink() {
  return (
    <Link to={PATHS.wall} className={buttonClass({ variant: 'strong' })}>
      На стену
    </Link>
  )
}
