import { useState } from 'react'
import { parsePostText } from '../../../contract/text.ts'
import { Button } from '../../ui/button.tsx'
import { ModalFooter } from '../../ui/modal.tsx'
import { TextArea } from '../../ui/text-area.tsx'
import { copyText } from './copy-text.ts'
import type { Drafts } from './drafts.ts'
import styles from './edit-expired.module.css'
import { SendErrorLine } from './send-error-line.tsx'
import { usePublish } from './use-publish.ts'
import { useSendError } from './use-send-error.ts'

type EditExpiredProps = {
  postId: string
  /** The changed text that came too late; null where nothing was changed. */
  typed: string | null
  draft: Drafts
  onClose: () => void
}

/** Says that the edit period is over, and saves what was typed: it can be copied or sent as a reply. */
export function EditExpired({ postId, typed, draft, onClose }: EditExpiredProps) {
  return (
    <>
      <p className={styles.notice} role="alert">
        Время изменения записи истекло
      </p>
      {typed === null ? (
        <ModalFooter>
          <Button variant="primary" onClick={onClose}>
            Понятно
          </Button>
        </ModalFooter>
      ) : (
        <LateText postId={postId} typed={typed} draft={draft} onClose={onClose} />
      )}
    </>
  )
}

function LateText(props: EditExpiredProps & { typed: string }) {
  const { postId, typed, draft, onClose } = props
  const publish = usePublish(postId)
  const [copied, setCopied] = useState(false)
  const error = useSendError({ intent: { name: 'edit', postId }, failed: 'Не отправлено' })
  const text = parsePostText(typed)

  async function copy(): Promise<void> {
    // Taken back first: said anew, it is announced anew.
    setCopied(false)
    await copyText(typed)
    setCopied(true)
  }

  async function sendAsReply(): Promise<void> {
    if (text === null) return
    try {
      await publish(text, draft.submissionKey(text))
      draft.settle(text)
      onClose()
    } catch (reason) {
      error.tell(reason)
    }
  }

  function drop(): void {
    draft.clear()
    onClose()
  }

  return (
    <>
      <p className={styles.text}>Новый текст цел: скопируйте его или отправьте ответом к записи.</p>
      <TextArea label="Текст записи" value={typed} onChange={ignore} readOnly />
      <SendErrorLine error={error} />
      <p className={styles.copied} role="status">
        {copied && 'Текст скопирован'}
      </p>
      <ModalFooter>
        <Button variant="plain" onClick={drop}>
          Удалить текст
        </Button>
        <Button onClick={copy}>Скопировать текст</Button>
        <Button variant="primary" disabled={text === null} onClick={sendAsReply}>
          Отправить ответом
        </Button>
      </ModalFooter>
    </>
  )
}

function ignore(): void {}
