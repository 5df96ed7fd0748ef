import { type ComponentProps, type RefObject, useLayoutEffect, useRef } from 'react'
import { classes } from './classes.ts'
import { useFocusOnMount } from './field.tsx'
import styles from './text-area.module.css'

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'onChange' | 'value' | 'autoFocus'> & {
  /** The accessible name; no label is shown. */
  label: string
  value: string
  onChange: (value: string) => void
  focusOnMount?: boolean
}

/** A borderless field for several lines of text, which grows with its content. */
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

/** Does what `field-sizing: content` does, in browsers that lack it. */
function useGrow(ref: RefObject<HTMLTextAreaElement | null>, value: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the value.
  useLayoutEffect(() => {
    const area = ref.current
    if (!area || CSS.supports('field-sizing', 'content')) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight}px`
  }, [ref, value])
}
