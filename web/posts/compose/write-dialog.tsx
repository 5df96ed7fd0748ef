import { type ComponentProps, type ReactNode, useEffect, useState } from 'react'
import { Modal } from '../../ui/overlay/modal.tsx'
import { useBlockNote } from './block.ts'
import { sharedText, useDraft } from './drafts.ts'
import { PostForm, useCloseWithDraft, usePostForm } from './post-form.tsx'
import type { DraftTarget } from './stored-drafts.ts'
import { WritingAs } from './writing-as.tsx'

type WriteDialogProps = Omit<ComponentProps<typeof PostForm>, 'form' | 'shape'> & {
  title: string
  /** The target of the text, which stays a draft until it is sent. */
  target: DraftTarget
  /** A text that is shown below the draft. */
  added?: string
  children: ReactNode
  onClose: () => void
}

/** Shows a dialog to write a new text, which fills the screen of a phone. */
export function WriteDialog(props: WriteDialogProps) {
  const { title, target, added = '', children, onClose, ...look } = props
  const draft = useDraft(target)
  const form = usePostForm({ draft, added, onSent: onClose })
  return (
    <Modal title={title} isLarge onClose={useCloseWithDraft(draft, onClose, form.sendError)}>
      {children}
      <PostForm {...look} form={form} />
    </Modal>
  )
}

export function NewPostDialog({ onClose }: { onClose: () => void }) {
  const [added] = useState(sharedText.read)
  // A reload shows it again.
  useEffect(() => sharedText.remove, [])
  return (
    <WriteDialog
      title="Новая запись"
      target="new"
      added={added}
      note={useBlockNote()}
      placeholder="О чём скажете вслух?"
      onClose={onClose}
    >
      <WritingAs />
    </WriteDialog>
  )
}
