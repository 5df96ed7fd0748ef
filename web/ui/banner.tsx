import type { ReactNode } from 'react'
import styles from './banner.module.css'

type BannerProps = { icon?: ReactNode; children?: ReactNode }

/** A quiet line over the page. Keep it mounted and give or take its children: only then is it announced. */
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
