import type { ReactNode } from 'react'
import styles from './banner.module.css'

type BannerProps = { icon?: ReactNode; children?: ReactNode }

/** A line of information over the page. Keep it mounted and change its children: only then is the change announced. */
export function Banner({ icon, children }: BannerProps) {
  return (
    <div role="status">
      {children && (
        <div className={styles.banner}>
          {icon}
          {children}
        </div>
      )}
    </div>
  )
}
