import { useRef } from 'react'
import { CallError } from '../api/call-error.ts'
import { errorMessage } from '../api/error-message.ts'
import { useSingleMutation } from '../api/use-single-mutation.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { FormError } from '../ui/form-error.tsx'
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts'
import { openDialog } from '../viewer/dialogs.ts'
import { type UndoLink, undoEmailChange } from './undo-email-change.ts'
import styles from './undo-email-form.module.css'

/** Undoes a change of e-mail, only after a press of the button: programs that check links open this page too. */
export function EmailUndo({ link }: { link: UndoLink }) {
  const { mutate, isPending, isSuccess, error } = useSingleMutation({
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

/** Says how the undo ended. Its button takes the focus from the one that is gone. */
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
