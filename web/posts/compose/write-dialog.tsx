import type { ComponentProps, ReactNode } from 'react'
import { Modal } from '../../ui/overlay/modal.tsx'
import { useBlockNote } from './block.ts'
import { useDraft } from './drafts.ts'
import { PostForm, useCloseWithDraft, usePostForm } from './post-form.tsx'
import type { DraftTarget } from './stored-drafts.ts'
import { WritingAs } from './writing-as.tsx'

type WriteDialogProps = Omit<ComponentProps<typeof PostForm>, 'form' | 'shape'> & {
  title: string
  /** The target of the text, which stays a draft until it is sent. */
  target: DraftTarget
  children: ReactNode
  onClose: () => void
}

/** Shows a dialog to write a new text, which fills the screen of a phone. */
export function WriteDialog(props: WriteDialogProps) {
  const { title, target, children, onClose, ...look } = props
  const draft = useDraft(target)
  const form = usePostForm({ draft, onSent: onClose })
  return (
    <Modal title={title} isLarge onClose={useCloseWithDraft(draft, onClose, form.sendError)}>
      {children}
      <PostForm {...look} form={form} />
    </Modal>
  )
}

export function NewPostDialog({ onClose }: { onClose: () => void }) {
  return (
    <WriteDialog
      title="Новая запись"
      target="new"
      note={useBlockNote()}
      placeholder="О чём скажете вслух?"
      onClose={onClose}
    >
      <WritingAs />
    </WriteDialog>
  )
}
