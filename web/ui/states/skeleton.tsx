import styles from './skeleton.module.css'

type SkeletonProps = {
  count?: number
  /** Without a label nothing is announced: the list around the skeleton sets aria-busy. */
  label?: string
}

export function Skeleton({ count = 1, label }: SkeletonProps) {
  const announced = label ? { role: 'status', 'aria-label': label } : { 'aria-hidden': true }
  return (
    <div {...announced}>
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
