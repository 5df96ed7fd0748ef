import { type ReactNode, useId } from 'react'
import { shortCount } from '../../format/counts.ts'
import { classes } from '../../ui/classes.ts'
import styles from './action-button.module.css'

type ActionButtonProps = {
  label: string
  /** The name of the post's author, for screen readers. */
  about: string
  icon: ReactNode
  count: number
  /** What the button counts, in the form after a number. Only screen readers and text browsers show it. */
  noun: string
  pressed?: boolean
  /** Whether a tap waits for something else before it has an effect. */
  busy?: boolean
  /** The name by which the shortcuts find the button. */
  action: 'like' | 'reply'
  onClick: () => void
}

export function ActionButton(props: ActionButtonProps) {
  const countId = useId()
  const name = `${props.label}: ${props.about}`
  return (
    <span className={classes('line', styles.action)}>
      <button
        type="button"
        // The button contains only the icon, but its area also covers the count.
        className={classes('cover', styles.button)}
        data-action={props.action}
        aria-label={name}
        aria-describedby={props.count > 0 ? countId : undefined}
        aria-pressed={props.pressed}
        aria-busy={props.busy || undefined}
        // A title that differs from the name would be read as well.
        title={name}
        onClick={props.onClick}
      >
        {props.icon}
      </button>
      {props.count > 0 && (
        // One text for all: a number and the same number in words would read as «55 отметок».
        <span id={countId} aria-hidden="true">
          <span>{shortCount(props.count)}</span>
          <span className="visually-hidden">{` ${props.noun}`}</span>
        </span>
      )}
    </span>
  )
}
