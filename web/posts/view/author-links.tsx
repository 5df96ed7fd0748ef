import { authorPath } from '../../../contract/pages.ts'
import { useIsModerator } from '../../session/site-state.ts'
import { classes } from '../../ui/classes.ts'
import { Monogram } from '../../ui/monogram.tsx'
import styles from './post-card.module.css'

/** Shows the author's tile. Assistive technology ignores it: the name is the same link. */
export function AuthorTile({ username }: { username: string }) {
  const look = { className: classes('target', styles.tile), 'aria-hidden': true }
  return (
    <a {...look} href={authorPath(username)} tabIndex={-1}>
      <Monogram name={username} />
    </a>
  )
}

type AuthorNameProps = {
  owner: { id: string; username: string }
  className: string | undefined
}

export function AuthorName({ owner, className }: AuthorNameProps) {
  return (
    <>
      <a
        className={classes('target underlined', styles.name, className)}
        href={authorPath(owner.username)}
      >
        {owner.username}
      </a>
      {useIsModerator(owner.id) && <span className={styles.role}>модератор</span>}
    </>
  )
}
