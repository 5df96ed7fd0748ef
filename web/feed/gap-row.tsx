import { useAction } from '../http/use-action.tsx'
import type { Gap } from '../posts/cache/list-cache.ts'
import styles from './gap-row.module.css'

type GapRowProps = { gap: Gap; onFill: (cursor: string) => Promise<void> }

/** Stands for posts between two pages. It is an article, as all that an ARIA feed may have. */
export function GapRow({ gap: { cursor, size }, onFill }: GapRowProps) {
  const fill = useAction({ mutationFn: () => onFill(cursor), errors: 'toast' })
  return (
    <article aria-label="Пропущенные записи">
      <button
        type="button"
        className={styles.row}
        aria-disabled={fill.isPending || undefined}
        onClick={() => fill.mutate()}
      >
        Показать ещё{size > 0 && ` ${size}`}
      </button>
    </article>
  )
}
