import { type ReactNode, type RefObject, useEffect, useId, useRef } from 'react'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { postPath } from '../../../contract/pages.ts'
import type { Post } from '../../../contract/posts.ts'
import { plural } from '../../format/counts.ts'
import { whenDialogIsClosed } from '../../history/history.ts'
import { useAtom } from '../../platform/atom.ts'
import { PostText } from '../../posts/view/post-text.tsx'
import { PostTime } from '../../posts/view/post-time.tsx'
import { classes } from '../../ui/classes.ts'
import { Monogram } from '../../ui/monogram.tsx'
import { Pause } from '../../ui/pause.tsx'
import { AuthorBlock, authorFacts } from './author-block.tsx'
import { cardToFocus } from './decide.ts'
import styles from './queue.module.css'
import { QueueActions } from './queue-actions.tsx'

const STATES: Record<QueuedPost['state'], string | null> = {
  published: null,
  hidden: 'Скрыта до решения',
  removed: 'Удалена модератором',
  deleted: 'Удалена автором',
}
const REPORTED = { one: 'Пожаловался', few: 'Пожаловались', many: 'Пожаловались' }
const PEOPLE = { one: 'человек', few: 'человека', many: 'человек' }

type QueueCardProps = {
  post: QueuedPost
  position: number
  setSize: number
  /** Whether the card above is about the same author. */
  joined: boolean
}

export function QueueCard({ post, position, setSize, joined }: QueueCardProps) {
  const id = useId()
  const ref = useRef<HTMLElement>(null)
  useFocusOnAsk(ref, post.id)
  const { thread, comments, reportedText, appeal, author } = post
  return (
    <article
      ref={ref}
      className={classes('band', styles.card)}
      data-post-id={post.id}
      data-joined={joined || undefined}
      aria-label={author.username}
      aria-describedby={`${id}-why ${id}-text`}
      aria-posinset={position}
      aria-setsize={setSize}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: articles of an ARIA feed take focus.
      tabIndex={0}
    >
      <div id={`${id}-why`} className="stack">
        <Why post={post} />
      </div>
      <ThreadPosts label="Перед этой записью" posts={thread.before} />
      <div className={classes('line', styles.head)}>
        <Monogram name={author.username} />
        <div className={styles.names}>
          <div className={classes('wrap', styles.named)}>
            <b className={classes('ellipsis', styles.author)}>{author.username}</b>
            <span className="soft">
              <PublishedAt post={post} />
              {STATES[post.state] && (
                <>
                  <Pause mark="," />
                  <span className={styles.state}>{STATES[post.state]}</span>
                </>
              )}
            </span>
          </div>
          {!joined && <span className="soft">{authorFacts(author)}</span>}
        </div>
      </div>
      {!joined && <AuthorBlock author={author} />}
      <div id={`${id}-text`}>
        <PostText post={post} size="page" />
      </div>
      {reportedText !== null && (
        <QuoteList label="Жаловались на прежний текст" texts={[reportedText]} />
      )}
      {comments.length > 0 && <QuoteList label="Пояснения к жалобам" texts={comments} />}
      {appeal && (
        <QuoteList
          label={`Автор обжалует удаление. Причина была: ${appeal.removedFor}`}
          texts={[appeal.text]}
        />
      )}
      <ThreadPosts label="Ответы" posts={thread.replies} />
      <QueueActions
        post={post}
        hasFocus={() => ref.current?.contains(document.activeElement) === true}
      />
    </article>
  )
}

function useFocusOnAsk(ref: RefObject<HTMLElement | null>, postId: string): void {
  const isAsked = useAtom(cardToFocus) === postId
  useEffect(() => {
    if (!isAsked) return
    cardToFocus.set(null)
    whenDialogIsClosed(() => {
      ref.current?.focus({ preventScroll: true })
      ref.current?.scrollIntoView({ block: 'start' })
    })
  }, [isAsked, ref])
}

function Why({ post: { reporters, reasons, since } }: { post: QueuedPost }) {
  return (
    <>
      <p className="soft">
        {reporters === 0
          ? 'Обжалование'
          : `${plural(reporters, REPORTED)} ${reporters}\u00a0${plural(reporters, PEOPLE)}`}
        {' · '}
        <PostTime createdAt={since} />
      </p>
      {reasons.length > 0 && (
        <ul className="wrap" aria-label="Причины">
          {reasons.map(({ name, count }) => (
            <li key={name} className={classes('act', styles.reason)}>
              {name}
              {count > 1 && ` · ${count}`}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function PublishedAt({ post: { id, state, createdAt } }: { post: QueuedPost }) {
  if (state !== 'published') return <PostTime createdAt={createdAt} />
  return (
    <a className={classes('target underlined', styles.permalink)} href={postPath(id)}>
      <PostTime createdAt={createdAt} />
    </a>
  )
}

function QuoteList({ label, texts }: { label: string; texts: readonly string[] }) {
  return (
    <LabelledList label={label} className="stack">
      {texts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows at its end.
        <li key={index} className={classes('quoted', styles.quote)} dir="auto">
          {text}
        </li>
      ))}
    </LabelledList>
  )
}

/** Shows the posts around a queued post, each cut to a few lines. */
function ThreadPosts({ label, posts }: { label: string; posts: readonly Post[] }) {
  if (posts.length === 0) return null
  return (
    <LabelledList label={label} className={styles.posts}>
      {posts.map((post) => (
        <li key={post.id} className={styles.post}>
          <a className={classes('soft clamp cover', styles.link)} href={postPath(post.id)}>
            <b>{post.owner.username}</b>
            <Pause mark=":" /> <bdi>{post.text}</bdi>
          </a>
        </li>
      ))}
    </LabelledList>
  )
}

type LabelledListProps = { label: string; className: string | undefined; children: ReactNode }

function LabelledList({ label, className, children }: LabelledListProps) {
  const id = useId()
  return (
    <div>
      <p id={id} className="soft">
        {label}
      </p>
      <ul aria-labelledby={id} className={classes(styles.list, className)}>
        {children}
      </ul>
    </div>
  )
}
