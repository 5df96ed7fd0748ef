import { type ComponentProps, type RefObject, useLayoutEffect, useRef } from 'react'
import { classes } from './classes.ts'
import styles from './text-area.module.css'
import { useFocusOnMount } from './use-focus-on-mount.ts'

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'onChange' | 'value' | 'autoFocus'> & {
  /** The accessible name; the area shows no label of its own. */
  label: string
  value: string
  onChange: (value: string) => void
  focusOnMount?: boolean
}

/** Several lines of text on bare paper; it grows with what is written. */
export function TextArea(props: TextAreaProps) {
  const { label, onChange, focusOnMount = false, className, ...rest } = props
  const ref = useRef<HTMLTextAreaElement>(null)
  useFocusOnMount(ref, focusOnMount)
  useGrow(ref, props.value)
  return (
    <textarea
      rows={4}
      {...rest}
      ref={ref}
      aria-label={label}
      className={classes(styles.area, className)}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** Does by hand what `field-sizing: content` does where the browser has it. */
function useGrow(ref: RefObject<HTMLTextAreaElement | null>, value: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the value.
  useLayoutEffect(() => {
    const area = ref.current
    if (!area || CSS.supports('field-sizing', 'content')) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight}px`
  }, [ref, value])
}
