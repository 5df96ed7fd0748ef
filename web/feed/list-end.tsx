import type { ReactNode } from 'react'
import { EMPTY_LIST } from '../../contract/pages.ts'
import { classes } from '../ui/classes.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { Mark } from '../ui/mark.tsx'
import styles from './list-end.module.css'

type NoPostsProps = { lead?: string | undefined; note?: string | undefined; action?: ReactNode }

export function NoPosts({ lead, note, action }: NoPostsProps) {
  return (
    <EmptyState
      {...EMPTY_LIST}
      lead={lead}
      action={
        (note || action) && (
          <>
            {note && <p className={classes('soft', styles.note)}>{note}</p>}
            {action}
          </>
        )
      }
    />
  )
}

export function NoReplies() {
  return (
    <div className={classes('soft', styles.noReplies)}>
      <p>{EMPTY_LIST.title}</p>
      <p>{EMPTY_LIST.text}</p>
    </div>
  )
}

/** Marks the end of a list, so that readers do not wait for more. */
export function LastPost({ text = 'Это все записи' }: { text?: string | undefined }) {
  return (
    <p className={classes('line soft', styles.last)}>
      <Mark size={18} />
      {text}
    </p>
  )
}
