import { cursorIn, PATHS, SITE_DESCRIPTION, TITLES } from '../../contract/pages.ts'
import { NoPosts, PostFeed } from '../feed/post-feed.tsx'
import { useEntry, usePageTitle } from '../history/entry.tsx'
import { wallSource } from '../posts/cache/posts.queries.ts'
import { openNewPost } from '../session/intents.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { EmptyState, type EmptyStateProps } from '../ui/states/empty-state.tsx'
import styles from './post-page.module.css'

/** /, or a later part of the wall if the address has a cursor. */
export function WallPage() {
  usePageTitle(TITLES.wall)
  const start = cursorIn(useEntry().search)
  return (
    <>
      {start === '' && (
        <div className="band above-phone unprinted">
          <button type="button" className={classes('input', styles.field)} onClick={openNewPost}>
            О чём скажете вслух?
          </button>
        </div>
      )}
      <PostFeed
        source={wallSource(start)}
        label="Стена"
        empty={
          <NoPosts
            lead={SITE_DESCRIPTION.slice(0, -1)}
            action={
              <Button variant="primary" onClick={openNewPost}>
                Написать первую запись
              </Button>
            }
          />
        }
        hasFoot
      />
    </>
  )
}

/** Shows a whole page that leads only to the wall. */
export function DeadEnd(props: Pick<EmptyStateProps, 'title' | 'text'>) {
  return <EmptyState {...props} isWholePage action={<WallLink />} />
}

export function WallLink() {
  return (
    <a href={PATHS.wall} className={buttonClass({ variant: 'strong' })}>
      На стену
    </a>
  )
}
