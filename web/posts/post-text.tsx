import { linkParts } from '../lib/link-parts.ts'
import styles from './post-text.module.css'

type PostTextProps = { text: string; size?: 'list' | 'page' }

/** The text of a post as written, its web addresses as links. */
export function PostText({ text, size = 'list' }: PostTextProps) {
  let at = 0
  return (
    <p className={styles.text} data-size={size}>
      {linkParts(text).map((part) => {
        const key = at
        at += part.text.length
        return part.kind === 'text' ? (
          part.text
        ) : (
          <a
            key={key}
            className={styles.link}
            href={part.href}
            target="_blank"
            rel="nofollow ugc noopener"
          >
            {part.text}
          </a>
        )
      })}
    </p>
  )
}
