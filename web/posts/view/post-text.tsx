import { createContext, Fragment, type ReactNode, useContext } from 'react'
import { namedBy } from '../../../contract/mention-rules.ts'
import { authorPath } from '../../../contract/pages.ts'
import { joinEmptyLines } from '../../../contract/post-rules.ts'
import type { Post, PostBody } from '../../../contract/posts.ts'
import { linkParts } from '../../format/link-parts.ts'
import { useHydrated } from '../../platform/atom.ts'
import styles from './post-text.module.css'

/** `mentions` are absent before the text is published. */
type PostTextProps = { post: PostBody & Pick<Post, 'mentions'>; size?: 'list' | 'page' }

/** A pattern with one group. PostText marks its matches. */
export const Highlighted = createContext<RegExp | null>(null)

const LINK_LENGTH = { list: 40, page: 80 }

/** Returns a text with shortened addresses, without links. */
export function useQuoted(text: string): string {
  const links = { length: LINK_LENGTH.list, withUnusual: useHydrated() }
  return linkParts(text, links)
    .map((part) => part.text)
    .join('')
}

export function PostText({ post, size = 'list' }: PostTextProps) {
  const { text } = post
  const shown = size === 'list' ? joinEmptyLines(text) : text
  const links = {
    ...{ length: LINK_LENGTH[size], withUnusual: useHydrated() },
    namedBy: (name: string) => namedBy(post, name),
  }
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
        if (part.kind === 'text') {
          return <Fragment key={key}>{withHighlights(part.text, pattern)}</Fragment>
        }
        return part.kind === 'mention' ? (
          <a key={key} className={styles.link} href={authorPath(part.username)} dir="ltr">
            {withHighlights(part.text, pattern)}
          </a>
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
            <Address {...part} />
          </a>
        )
      })}
    </p>
  )
}

/** Shows a shortened address. The rest of it is there too, for people who copy the text. */
function Address({ text, title }: { text: string; title: string }) {
  const shown = text.replace(/…$/, '')
  const at = title.indexOf(shown)
  return (
    <>
      <Unshown text={title.slice(0, at)} />
      {shown === text ? text : <span className={styles.cut}>{shown}</span>}
      <Unshown text={title.slice(at + shown.length)} />
    </>
  )
}

function Unshown({ text }: { text: string }) {
  return (
    text !== '' && (
      <span className={styles.unshown} aria-hidden>
        {text}
      </span>
    )
  )
}

function withHighlights(text: string, pattern: RegExp | null): ReactNode {
  if (!pattern) return withJoinedEndings(text)
  // Every second piece is what the group has matched.
  return (
    text
      .split(pattern)
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece has nothing but its place
      .map((piece, at) => (at % 2 ? <mark key={at}>{piece}</mark> : withJoinedEndings(piece, at)))
  )
}

/** A number with its ending, such as «1983-м». */
const WITH_ENDING = /(\d-\p{L}{1,3}(?!\p{L}))/u

/** Keeps «1983-м» on one line. A word joiner would be copied with the text. */
function withJoinedEndings(text: string, key?: number): ReactNode {
  if (!WITH_ENDING.test(text)) return text
  return (
    <Fragment key={key}>
      {text.split(WITH_ENDING).map((piece, at) =>
        at % 2 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece has nothing but its place
          <span key={at} className={styles.joined}>
            {piece}
          </span>
        ) : (
          piece
        ),
      )}
    </Fragment>
  )
}
