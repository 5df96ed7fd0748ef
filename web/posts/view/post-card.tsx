import {
  createContext,
  type DOMAttributes,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  useContext,
  useId,
  useRef,
  useState,
} from 'react'
import { postPath } from '../../../contract/pages.ts'
import { CLARIFIES } from '../../../contract/post-rules.ts'
import { navigate } from '../../history/history.ts'
import { classes } from '../../ui/classes.ts'
import { Pause } from '../../ui/pause.tsx'
import { useHidden, useIsMuted } from '../cache/hidden.ts'
import { type CachedPost, usePost } from '../cache/post-cache.ts'
import { AuthorName, AuthorTile } from './author-links.tsx'
import styles from './post-card.module.css'
import { PostText, useQuoted } from './post-text.tsx'
import { editedLabel, TimeLink } from './post-time.tsx'
import quoteStyles from './replied-post.module.css'
import { hiddenWordIn } from './word-match.ts'

/** Elements that handle clicks themselves: a click on one does not open the post. */
const INTERACTIVE = 'a, button, input, textarea, select, label, [role^="menu"], [role="dialog"]'

/** The value of MouseEvent.button for the middle button. */
const MIDDLE = 1

export type IsFresh = ((post: CachedPost) => boolean) | undefined

/** The function that returns whether a reply is newer than the viewer's last visit. */
export const Fresh = createContext<IsFresh>(undefined)

type PostCardProps = {
  post: CachedPost
  position?: number | undefined
  setSize?: number | undefined
  /** Leaves out the quote of the replied post, which the page shows anyway. */
  withoutQuote?: boolean
  /** The id of the reply below the card, to which a line leads. */
  replyBelow?: string | undefined
  /** Handlers of what the pointer does on the card. */
  pointer?: DOMAttributes<HTMLElement>
  menu?: ReactNode
  /** Why the list has the post, which its description begins with. */
  above?: ReactNode
  children?: ReactNode
}

/** Shows a post. A click on the card opens it; a middle click opens it in a new tab. */
export function PostCard(props: PostCardProps) {
  const { post, position, setSize, replyBelow, menu, above, children } = props
  const repliedId = props.withoutQuote ? null : post.actions.replied_post_id
  const { username } = post.owner
  const id = useId()
  const isFresh = useContext(Fresh)?.(post) ?? false
  return (
    <article
      {...useOpenPost(post.id)}
      {...props.pointer}
      className={styles.card}
      data-post-id={post.id}
      data-joined={replyBelow !== undefined || undefined}
      data-fresh={isFresh || undefined}
      // A label by reference would keep Orca from reading the name when it reads on and on.
      aria-label={username}
      aria-describedby={`${id}-above ${id}-text ${id}-clarification`}
      aria-posinset={position}
      aria-setsize={setSize}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: articles of an ARIA feed take focus.
      tabIndex={0}
    >
      <AuthorTile username={username} />
      <div>
        {above && <div id={`${id}-above`}>{above}</div>}
        <div className={classes('line soft', styles.head)}>
          <AuthorName owner={post.owner} className={styles.author} />
          <TimeLink
            className={classes('target underlined', styles.permalink)}
            to={postPath(post.id)}
            createdAt={post.created_at}
            mark={isFresh ? 'новый' : undefined}
          />
          <span className={styles.marks}>{editedLabel(post)}</span>
          {menu && <div className={styles.menu}>{menu}</div>}
        </div>
        {repliedId && <RepliedPost id={repliedId} beside={post.id} />}
        <div id={`${id}-text`} className={classes('clamp', styles.text)}>
          <FoldedText post={post} />
        </div>
        <Clarification id={`${id}-clarification`} post={post} beside={replyBelow} />
        {children && <div className={classes('unprinted', styles.actions)}>{children}</div>}
      </div>
    </article>
  )
}

type FoldedTextProps = { post: CachedPost; size?: 'list' | 'page' }

/** Shows a text. Folds it until a tap if it was reported or, in lists, has a hidden word. */
export function FoldedText({ post, size = 'list' }: FoldedTextProps) {
  const why = useWhyFolded(post, size)
  const [isShown, setShown] = useState(false)
  if (!why || isShown) return <PostText post={post} size={size} />
  return (
    <p className={styles.hidden}>
      {why} ·{' '}
      <button
        type="button"
        className={classes('target', styles.show)}
        aria-label={`Показать: ${post.owner.username}`}
        onClick={() => setShown(true)}
      >
        Показать
      </button>
    </p>
  )
}

type ClarificationProps = { id: string; post: CachedPost; beside?: string | undefined }

/** Shows what the author has added to a post, unless that is the post `beside` it. */
export function Clarification({ id, post, beside }: ClarificationProps) {
  const reply = usePost(post.clarification?.id ?? '')
  if (!reply || reply.id === beside) return null
  return (
    <div id={id} className={classes('quoted', styles.clarification)}>
      <p className="soft">
        {CLARIFIES}
        {' · '}
        <TimeLink
          className={classes('target underlined', styles.clarified)}
          to={postPath(reply.id)}
          createdAt={reply.created_at}
          mark={undefined}
        />
        {editedLabel(reply)}
      </p>
      <FoldedText post={reply} />
    </div>
  )
}

/** Returns why a text is folded. Ignores the viewer's own posts. */
function useWhyFolded(post: CachedPost | null | undefined, size = 'list'): string | undefined {
  const { by, words, reported } = useHidden()
  if (!post || post.owner.id === by) return undefined
  if (reported?.includes(post.id)) return 'Вы пожаловались на эту запись'
  const word = size === 'list' ? hiddenWordIn(post.text, words) : undefined
  return word && `Скрыто по слову «${word}»`
}

function useOpenPost(postId: string) {
  const path = postPath(postId)
  const hadSelection = useRef(false)

  function onPointerDownCapture({ currentTarget }: PointerEvent<HTMLElement>): void {
    hadSelection.current = hasSelectionIn(currentTarget)
  }

  function onClick(event: MouseEvent<HTMLElement>): void {
    if (!isOnCard(event) || getSelection()?.isCollapsed === false) return
    if (event.ctrlKey || event.metaKey) openTab()
    // A click on a card with selected text ends the selection.
    else if (!hadSelection.current) navigate(path)
  }

  function onAuxClick(event: MouseEvent<HTMLElement>): void {
    if (event.button === MIDDLE && isOnCard(event)) openTab()
  }

  function openTab(): void {
    window.open(path, '_blank', 'noopener')
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    // Ctrl+Enter publishes: its second press finds the focus on the new post.
    const isPlain = !event.ctrlKey && !event.metaKey
    if (event.key === 'Enter' && isPlain && event.target === event.currentTarget) navigate(path)
  }

  return { onPointerDownCapture, onClick, onAuxClick, onMouseDown, onKeyDown }
}

function hasSelectionIn(card: HTMLElement): boolean {
  const selection = getSelection()
  return selection?.isCollapsed === false && selection.containsNode(card, true)
}

/** Keeps the middle button from starting to scroll the page. */
function onMouseDown(event: MouseEvent<HTMLElement>): void {
  if (event.button === MIDDLE && isOnCard(event)) event.preventDefault()
}

function isOnCard(event: MouseEvent<HTMLElement>): boolean {
  if (event.defaultPrevented || !(event.target instanceof Element)) return false
  // React events also bubble from a menu that is rendered elsewhere in the DOM.
  return event.currentTarget.contains(event.target) && !event.target.closest(INTERACTIVE)
}

export const MUTED_AUTHOR = 'Запись скрытого вами автора'

const quoteClass = classes('quoted', quoteStyles.quote)
const quoteText = classes('clamp', quoteStyles.text)

type RepliedPostProps = {
  id: string
  /** The id of the card with the quote, which does not quote itself. */
  beside?: string
  /** In a dialog the quote is no link, so that the author does not leave the dialog by accident. */
  inDialog?: boolean
}

export function RepliedPost({ id, beside, inDialog = false }: RepliedPostProps) {
  const post = usePost(id)
  const why = useWhyFolded(post)
  const isMuted = useIsMuted(post?.owner.id)
  const text = useQuoted(post?.text ?? '')
  const clarification = usePost(post?.clarification?.id ?? '')
  const added = useQuoted(clarification?.text ?? '')
  if (post === undefined) return null
  if (post === null) return <p className={quoteStyles.quote}>Запись удалена</p>
  const instead = isMuted ? MUTED_AUTHOR : why
  const quote = (!inDialog && instead) || (
    <>
      <span className={quoteText}>
        <b className={quoteStyles.author}>{post.owner.username}</b>
        <Pause mark=":" /> <bdi translate="yes">{text}</bdi>
      </span>
      {clarification && clarification.id !== beside && (
        <span className={quoteText}>
          <Pause />
          {CLARIFIES}: <bdi translate="yes">{added}</bdi>
        </span>
      )}
    </>
  )
  return inDialog ? (
    <blockquote className={quoteClass} data-in-dialog>
      {quote}
    </blockquote>
  ) : (
    <a className={quoteStyles.link} href={postPath(id)}>
      <span className={quoteClass}>{quote}</span>
    </a>
  )
}
