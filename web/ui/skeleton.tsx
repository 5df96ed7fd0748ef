import styles from './skeleton.module.css'

/** The shape of what is loading: a tile and lines, `count` times. Silent; the list around it sets aria-busy. */
export function Skeleton({ count = 1 }: { count?: number }) {
  return (
    <div aria-hidden="true">
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
