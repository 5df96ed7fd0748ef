import { useMemo } from 'react'
import { useLocation } from 'react-router'
import { cursorIn, PATHS, TITLES } from '../../contract/pages.ts'
import { usePageTitle } from '../browser/use-page-title.ts'
import { PostFeed } from '../feed/post-feed.tsx'
import { wallSource } from '../posts/cache/post-sources.ts'
import { SiteLinks } from '../texts/site-links.tsx'
import { buttonClass } from '../ui/button.tsx'
import { Link } from '../ui/link.tsx'

/** /, or a later part of the wall by its cursor. */
export function WallPage() {
  usePageTitle(TITLES.wall)
  const start = cursorIn(useLocation().search)
  const source = useMemo(() => wallSource(start), [start])
  return <PostFeed source={source} label="Стена" foot={<SiteLinks />} watchesNew={start === null} />
}

export function WallLink() {
  return (
    <Link to={PATHS.wall} className={buttonClass({ variant: 'strong' })}>
      На стену
    </Link>
  )
}
