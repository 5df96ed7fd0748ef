import { useId } from 'react'
import styles from './radio-group.module.css'
import { VisuallyHidden } from './visually-hidden.tsx'

type RadioGroupProps = {
  legend: string
  /** Hides the legend from the eye where the title above already says it. */
  legendHidden?: boolean
  options: readonly { value: string; label: string }[]
  value: string | undefined
  onChange: (value: string) => void
  disabled?: boolean | undefined
}

/** One choice out of a few, as rows of native radio buttons. */
export function RadioGroup(props: RadioGroupProps) {
  const name = useId()
  return (
    <fieldset className={styles.group} disabled={props.disabled}>
      <legend className={props.legendHidden ? undefined : styles.legend}>
        {props.legendHidden ? <VisuallyHidden>{props.legend}</VisuallyHidden> : props.legend}
      </legend>
      {props.options.map((option) => (
        <label key={option.value} className={styles.row}>
          <input
            type="radio"
            className={styles.radio}
            name={name}
            value={option.value}
            checked={option.value === props.value}
            onChange={() => props.onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  )
}
