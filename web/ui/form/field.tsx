import {
  type AriaAttributes,
  type ComponentProps,
  type ReactNode,
  type Ref,
  type RefObject,
  type SyntheticEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
} from 'react'
import { classes } from '../classes.ts'
import { liveRegion } from '../live-region.ts'
import { Spinner } from '../states/spinner.tsx'
import styles from './field.module.css'

export type FieldStatus = { kind: 'ok' | 'busy' | 'plain' | 'bad'; text: string }

export type FieldNotes = {
  label: string
  hint?: string | undefined
  /** Marks the hint, which what is typed does not follow. A change of it is announced too. */
  isHintBroken?: boolean
  /** Replaces the status, and is announced by screen readers. */
  error?: string | undefined
  status?: FieldStatus | undefined
  /** Id of an element elsewhere that also describes the input. */
  describedBy?: string | undefined
}

type FieldProps = FieldNotes & { children: (aria: AriaAttributes & { id: string }) => ReactNode }

/** Renders an input with notes, whose line keeps its height, so that an error moves nothing. */
export function Field(props: FieldProps) {
  const { label, hint, isHintBroken, error, status, describedBy, children } = props
  const id = useId()
  const [hintId, notesId] = [`${id}-hint`, `${id}-notes`]
  return (
    <div className="stack">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {hint && (
        <p
          className={classes('soft', styles.hint)}
          id={hintId}
          data-broken={isHintBroken}
          aria-live="polite"
        >
          {hint}
        </p>
      )}
      {children({
        id,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': [describedBy, hint && hintId, notesId].filter(Boolean).join(' '),
      })}
      <div className={classes('soft', styles.notes)} id={notesId}>
        {error && (
          <p className={styles.error} role="alert">
            {error}
          </p>
        )}
        <p
          className={classes('line', styles.status)}
          data-kind={status?.kind}
          {...liveRegion(!error && Boolean(status?.text))}
        >
          {!error && status?.kind === 'busy' && <Spinner size={12} />}
          {!error && status?.text}
        </p>
      </div>
    </div>
  )
}

type TextFieldProps = FieldNotes &
  Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'id' | 'className' | 'autoFocus'> & {
    value: string
    onChange: (value: string) => void
    /** Returns what a paste or a drop inserts instead. What is typed is never changed. */
    cleanPaste?: (pasted: string) => string
    focusOnMount?: boolean
  }

export function TextField(props: TextFieldProps) {
  const { label, hint, isHintBroken = false, error, status, describedBy, ...input } = props
  const { onChange, cleanPaste, focusOnMount = false, ...rest } = input
  const ref = useFocusOnMount<HTMLInputElement>(focusOnMount)
  return (
    <Field {...{ label, hint, isHintBroken, error, status, describedBy }}>
      {(aria) => (
        <input
          {...rest}
          {...aria}
          ref={ref}
          className="input"
          onChange={(event) => onChange(event.target.value)}
          onPaste={cleanPaste && ((event) => insertClean(event, event.clipboardData, cleanPaste))}
          onDrop={cleanPaste && ((event) => insertClean(event, event.dataTransfer, cleanPaste))}
        />
      )}
    </Field>
  )
}

function insertClean(
  event: SyntheticEvent<HTMLInputElement>,
  data: DataTransfer,
  clean: (inserted: string) => string,
): void {
  const inserted = data.getData('text')
  const cleaned = clean(inserted)
  if (cleaned === inserted) return
  event.preventDefault()
  // A drop does not come to the focused field.
  event.currentTarget.focus()
  // Replaces the selection as a paste does, and can be undone. A new value could not.
  document.execCommand('insertText', false, cleaned)
}

type TextAreaFieldProps = Pick<FieldNotes, 'label' | 'hint'> & {
  ref?: Ref<HTMLTextAreaElement>
  value: string
  onChange: (value: string) => void
  maxLength: number
}

export function TextAreaField({ label, hint, onChange, ...rest }: TextAreaFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(aria) => (
        <textarea
          {...rest}
          {...aria}
          rows={3}
          className={classes('input', styles.lines)}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

/**
 * Returns a ref to an element that takes the focus when it is mounted. In a dialog that is not open
 * yet, sets autofocus, because showModal() moves the focus.
 */
export function useFocusOnMount<Focused extends HTMLElement>(wanted = true) {
  const ref = useRef<Focused>(null)
  useLayoutEffect(() => {
    if (wanted && ref.current?.closest('dialog:not([open])')) ref.current.autofocus = true
  }, [wanted])
  useEffect(() => {
    if (wanted && document.activeElement !== ref.current) ref.current?.focus()
  }, [wanted])
  return ref
}

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'onChange' | 'value' | 'autoFocus'> & {
  /** The accessible name; no label is shown. */
  label: string
  value: string
  /** The number of characters over the limit, which are marked. */
  surplus?: number
  /** A place in the text, at which `ref` becomes an invisible element. */
  anchor?: { at: number; ref: Ref<HTMLElement> } | undefined
  onChange: (value: string) => void
  focusOnMount?: boolean
}

export function TextArea(props: TextAreaProps) {
  const { label, surplus = 0, anchor, onChange, focusOnMount = false, className, ...rest } = props
  const ref = useFocusOnMount<HTMLTextAreaElement>(focusOnMount)
  const follow = () => {
    const copies = ref.current?.parentElement?.querySelectorAll('[aria-hidden]') ?? []
    for (const copy of copies) copy.scrollTop = ref.current?.scrollTop ?? 0
  }
  useGrow(ref, props.value)
  useLayoutEffect(follow)
  return (
    <div className={styles.stack}>
      <textarea
        rows={4}
        {...rest}
        ref={ref}
        aria-label={label}
        className={classes(styles.area, className)}
        onChange={(event) => onChange(event.target.value)}
        onScroll={follow}
      />
      {anchor && (
        <div aria-hidden className={classes(styles.area, className, styles.tint, styles.hidden)}>
          {props.value.slice(0, anchor.at)}
          <span ref={anchor.ref}>{props.value.charAt(anchor.at)}</span>
          {props.value.slice(anchor.at + 1)}&#8203;
        </div>
      )}
      {surplus > 0 && (
        <div aria-hidden className={classes(styles.area, className, styles.tint)}>
          <SurplusMarked text={props.value} surplus={surplus} />
        </div>
      )}
    </div>
  )
}

/** Marks the surplus in a copy above the text area, which cannot mark a part of its text. */
function SurplusMarked({ text, surplus }: { text: string; surplus: number }) {
  const characters = [...text.trimEnd()]
  return (
    <>
      {characters.slice(0, -surplus).join('')}
      <mark>{characters.slice(-surplus).join('')}</mark>
      {text.slice(text.trimEnd().length)}&#8203;
    </>
  )
}

/** Fits the height to the text in browsers that lack `field-sizing: content`. */
function useGrow(ref: RefObject<HTMLTextAreaElement | null>, value: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the value.
  useLayoutEffect(() => {
    const area = ref.current
    if (!area || CSS.supports('field-sizing', 'content')) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight}px`
  }, [ref, value])
}
