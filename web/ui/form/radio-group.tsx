import { useId } from 'react'
import { classes } from '../classes.ts'
import styles from './form.module.css'

type RadioGroupProps = {
  legend: string
  options: readonly { value: string; label: string }[]
  /** Empty if nothing is chosen. */
  value: string
  onChange: (value: string) => void
}

export function RadioGroup(props: RadioGroupProps) {
  const name = useId()
  return (
    <fieldset className={styles.group}>
      <legend className={classes('label', styles.legend)}>{props.legend}</legend>
      {props.options.map((option) => (
        <label key={option.value} className={classes('line', styles.row)}>
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
