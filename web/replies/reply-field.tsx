import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { useBlockNote } from '../posts/compose/block.ts'
import { useText } from '../posts/compose/open-text.ts'
import { PostForm, usePostForm } from '../posts/compose/post-form.tsx'
import { WritingAs } from '../posts/compose/writing-as.tsx'
import { useSessionEnd } from '../session/viewer.ts'
import { Monogram } from '../ui/monogram.tsx'
import styles from './reply-field.module.css'

type ReplyFieldProps = {
  postId: string
  username: string
  placeholder: string
  /** Shown instead of an empty field if the session has ended. */
  signIn: ReactNode
}

export function ReplyField({ postId, username, placeholder, signIn }: ReplyFieldProps) {
  const hasEnded = useSessionEnd() !== undefined
  const form = usePostForm({ text: useText(`reply ${postId}`) })
  const blockNote = useBlockNote()
  const field = useRef<HTMLDivElement>(null)
  // The bottom bar of a phone must not cover the field.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows from both.
  useLayoutEffect(() => {
    const isWriting = field.current?.contains(document.activeElement)
    if (isWriting) field.current?.scrollIntoView({ block: 'nearest' })
  }, [form.isUsed, form.typed])
  if (hasEnded && form.typed === '') return signIn
  return (
    <div ref={field} className={styles.field}>
      <Monogram name={username} />
      <PostForm
        form={form}
        shape="row"
        note={blockNote ?? <WritingAs />}
        label="Ваш ответ"
        placeholder={placeholder}
      />
    </div>
  )
}
