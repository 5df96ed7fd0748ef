import { authorPath } from '../../../contract/pages.ts'
import { Link } from '../../history/entry.tsx'
import { classes } from '../../ui/classes.ts'
import { Monogram } from '../../ui/monogram.tsx'
import styles from './post-card.module.css'

/** Shows the author's tile. Assistive technology ignores it: the name is the same link. */
export function AuthorTile({ username }: { username: string }) {
  const className = classes('target', styles.tile)
  return (
    <Link className={className} to={authorPath(username)} tabIndex={-1} aria-hidden="true">
      <Monogram name={username} />
    </Link>
  )
}

type AuthorNameProps = { id: string; username: string; className: string | undefined }

export function AuthorName({ id, username, className }: AuthorNameProps) {
  return (
    <Link
      id={id}
      className={classes('target underlined', styles.name, className)}
      to={authorPath(username)}
    >
      {username}
    </Link>
  )
}
