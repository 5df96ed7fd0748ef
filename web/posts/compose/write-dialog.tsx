import { type ComponentProps, type ReactNode, useEffect, useState } from 'react'
import { Modal } from '../../ui/overlay/modal.tsx'
import { useBlockNote } from './block.ts'
import { offerFocus } from './compose.queries.ts'
import { OfferedText, offeredText } from './offered-text.tsx'
import { useText } from './open-text.ts'
import { PostForm, useCloseWithDraft, usePostForm } from './post-form.tsx'
import type { Target } from './stored-texts.ts'
import { WritingAs } from './writing-as.tsx'

type WriteDialogProps = Omit<ComponentProps<typeof PostForm>, 'form' | 'shape'> & {
  title: string
  /** The target of the text, which stays a draft until it is sent. */
  target: Target
  /** A text from a link: the form begins with it or, if there is a draft, asks about it. */
  offered?: string
  children: ReactNode
  onClose: () => void
}

/** Shows a dialog to write a new text, which fills the screen of a phone. */
export function WriteDialog(props: WriteDialogProps) {
  const { title, target, offered = '', children, onClose, ...look } = props
  const text = useText(target)
  const onSent = () => {
    onClose()
    offerFocus()
  }
  const form = usePostForm({ text, begin: offered, onSent })
  return (
    <Modal title={title} isLarge onClose={useCloseWithDraft(text, onClose, form.sendError)}>
      {children}
      {offered && <OfferedText text={offered} form={form} />}
      <PostForm {...look} form={form} />
    </Modal>
  )
}

export function NewPostDialog({ onClose }: { onClose: () => void }) {
  const [offered] = useState(offeredText.read)
  // A reload shows it again.
  useEffect(() => offeredText.remove, [])
  return (
    <WriteDialog
      title="Новая запись"
      target="new"
      offered={offered}
      note={useBlockNote()}
      placeholder="О чём скажете вслух?"
      onClose={onClose}
    >
      <WritingAs />
    </WriteDialog>
  )
}
