import styles from './skeleton.module.css'

type SkeletonProps = {
  count?: number
  /** What is loading, to be announced. Without it the skeleton is silent: the list around it sets aria-busy. */
  label?: string
}

/** The shape of what is loading: a tile and lines, `count` times. */
export function Skeleton({ count = 1, label }: SkeletonProps) {
  const said = label ? { role: 'status', 'aria-label': label } : { 'aria-hidden': true }
  return (
    <div {...said}>
      {Array.from({ length: count }, (_, index) => index).map((index) => (
        <div key={index} className={styles.row}>
          <span className={styles.tile} />
          <span className={styles.lines}>
            <span className={styles.line} style={{ width: '32%' }} />
            <span className={styles.line} />
            <span className={styles.line} style={{ width: index % 2 === 0 ? '72%' : '48%' }} />
          </span>
        </div>
      ))}
    </div>
  )
}
