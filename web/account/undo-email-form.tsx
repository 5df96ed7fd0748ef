import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { CallError } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { FormError } from '../ui/form-error.tsx'
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts'
import { openDialog } from '../viewer/dialogs.ts'
import { type UndoLink, undoEmailChange } from './undo-email-change.ts'
import styles from './undo-email-form.module.css'

/** Offers to undo a change of e-mail, and does it only when asked to: programs that look at links open them too. */
export function EmailUndo({ link }: { link: UndoLink }) {
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => undoEmailChange(link),
  })
  if (isSuccess) {
    return <Outcome title="Прежняя почта возвращена" text="Все сессии завершены. Войдите снова" />
  }
  if (error instanceof CallError && error.code === 'LINK_EXPIRED') {
    return (
      <Outcome
        title="Ссылка больше не действует"
        text="Попробуйте войти с прежней почтой, а если не получится, напишите тем, кто ведёт эту стену"
      />
    )
  }
  return (
    <EmptyState
      isWholePage
      title="Вернуть прежнюю почту?"
      text="Аккаунт снова будет привязан к адресу, на который пришла ссылка. Все сессии завершатся, и войти можно будет только с этого адреса"
      action={
        <div className={styles.action}>
          <FormError>{error && errorMessage(error)}</FormError>
          <Button variant="primary" pending={isPending} onClick={() => mutate()}>
            Вернуть прежнюю почту
          </Button>
        </div>
      }
    />
  )
}

/** What became of it. The button that had the focus is gone, so the next one takes it. */
function Outcome({ title, text }: { title: string; text: string }) {
  const next = useRef<HTMLButtonElement>(null)
  useFocusOnMount(next, true)
  return (
    <div role="alert">
      <EmptyState
        isWholePage
        title={title}
        text={text}
        action={
          <Button ref={next} variant="strong" onClick={() => openDialog({ name: 'sign-in' })}>
            Войти
          </Button>
        }
      />
    </div>
  )
}
