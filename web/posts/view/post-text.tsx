import { createContext, type ReactNode, useContext } from 'react'
import { joinEmptyLines } from '../../../contract/post-rules.ts'
import type { PostBody } from '../../../contract/posts.ts'
import { linkParts } from '../../format/link-parts.ts'
import { useHydrated } from '../../platform/atom.ts'
import styles from './post-text.module.css'

type PostTextProps = { post: PostBody; size?: 'list' | 'page' }

/** A pattern with one group. PostText marks its matches. */
export const Highlighted = createContext<RegExp | null>(null)

const LINK_LENGTH = { list: 40, page: 80 }

/** Returns a text with shortened addresses, without links. */
export function useQuoted(text: string): string {
  const links = { length: LINK_LENGTH.list, withUnusual: useHydrated() }
  return linkParts(text, links)
    .map((part) => (part.kind === 'text' ? withJoinedEndings(part.text) : part.text))
    .join('')
}

export function PostText({ post: { text }, size = 'list' }: PostTextProps) {
  const shown = size === 'list' ? joinEmptyLines(text) : text
  const links = { length: LINK_LENGTH[size], withUnusual: useHydrated() }
  const pattern = useContext(Highlighted)
  let at = 0
  return (
    <p
      // Remounts the text, because React cannot change text nodes that a translator has replaced.
      key={`${shown}${pattern}`}
      className={styles.text}
      data-size={size}
      dir="auto"
      translate="yes"
    >
      {linkParts(shown, links).map((part) => {
        const key = at
        at += part.text.length
        return part.kind === 'text' ? (
          withHighlights(withJoinedEndings(part.text), pattern)
        ) : (
          <a
            key={key}
            className={styles.link}
            href={part.href}
            title={part.title}
            dir="ltr"
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

/** Inserts word joiners, so that «1983-м» does not break after its hyphen. */
function withJoinedEndings(text: string): string {
  return text.replace(/(\d-)(?=\p{L}{1,3}(?!\p{L}))/gu, '$1\u2060')
}

function withHighlights(text: string, pattern: RegExp | null): ReactNode {
  if (!pattern) return text
  // Every second piece is what the group has matched.
  // biome-ignore lint/suspicious/noArrayIndexKey: a piece has nothing but its place
  return text.split(pattern).map((piece, at) => (at % 2 ? <mark key={at}>{piece}</mark> : piece))
}
