import { type ReactNode, useId } from 'react'
import { shortCount } from '../../format/short-count.ts'
import { VisuallyHidden } from '../../ui/visually-hidden.tsx'
import styles from './action-button.module.css'

type ActionButtonProps = {
  /** The accessible name: what a tap does, without the count. */
  label: string
  icon: ReactNode
  count: number
  /** The count in words, for screen readers: «5 ответов». */
  countInWords: string
  /** For a button that stays pressed. */
  pressed?: boolean
  /** What the keyboard's shortcuts find the button by. */
  action: 'like' | 'reply'
  onClick: () => void
}

/** An action below a post: an icon, and how many have done the same. The whole of it can be pressed. */
export function ActionButton(props: ActionButtonProps) {
  const countId = useId()
  return (
    <span className={styles.action}>
      <button
        type="button"
        className={styles.button}
        data-action={props.action}
        aria-label={props.label}
        aria-describedby={props.count > 0 ? countId : undefined}
        aria-pressed={props.pressed}
        title={props.label}
        onClick={props.onClick}
      >
        {props.icon}
      </button>
      {props.count > 0 && (
        <>
          <span aria-hidden="true">{shortCount(props.count)}</span>
          <span id={countId}>
            <VisuallyHidden>{props.countInWords}</VisuallyHidden>
          </span>
        </>
      )}
    </span>
  )
}
