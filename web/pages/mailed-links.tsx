import type { ReactNode } from 'react'
import { PATHS, REPLY_MAILS_TITLE, replyMailsIn } from '../../contract/pages.ts'
import { undoEmailChange } from '../account/account.queries.ts'
import { useEntry, usePageTitle } from '../history/entry.tsx'
import { openDialog } from '../history/history.ts'
import { CallError } from '../http/call-error.ts'
import { settings } from '../platform/page-settings.ts'
import { useAction } from '../session/use-action.tsx'
import { useInvitation } from '../sign-in/invitation.queries.ts'
import { Button } from '../ui/button.tsx'
import { useFocusOnMount } from '../ui/form/field.tsx'
import { EmptyState } from '../ui/states/empty-state.tsx'
import { FormError } from '../ui/states/errors.tsx'
import { Skeleton } from '../ui/states/skeleton.tsx'
import { DeadEnd } from './wall.tsx'

const UNDO_HASH = /^#([0-9a-f]{32})\.([0-9a-f]{64})$/

/** What a link of a notice undoes, in the words of its page. */
const EMAIL_WORDS = {
  title: 'Возврат почты',
  ask: 'Вернуть прежнюю почту?',
  effect:
    'Аккаунт снова будет привязан к адресу, на который пришла ссылка. Все сессии завершатся, ключи доступа станут такими, как до смены, а код для входа будет приходить на этот адрес. Если аккаунт успели удалить, он вернётся целиком',
  act: 'Вернуть прежнюю почту',
  done: 'Прежняя почта возвращена',
  expired: 'Попробуйте войти с прежней почтой, а если не получится, напишите нам',
}
const PASSKEY_WORDS: typeof EMAIL_WORDS = {
  title: 'Отмена изменения',
  ask: 'Отменить изменение ключей доступа?',
  effect:
    'Ключи доступа и почта аккаунта станут такими, как до этого изменения. Все сессии завершатся, а код для входа будет приходить на адрес, на который пришла ссылка. Если аккаунт успели удалить, он вернётся целиком',
  act: 'Отменить изменение',
  done: 'Изменение отменено',
  expired: 'Войдите и проверьте ключи доступа в настройках, а если не получится, напишите нам',
}

/** Shows /email-undo, to which the mail about a changed e-mail address links. */
export function EmailUndoPage() {
  return <UndoPage words={EMAIL_WORDS} />
}

/** Shows /passkey-undo, to which mails about added and removed passkeys link. */
export function PasskeyUndoPage() {
  return <UndoPage words={PASSKEY_WORDS} />
}

function UndoPage({ words }: { words: typeof EMAIL_WORDS }) {
  usePageTitle(words.title, 'tab')
  const { hash } = useEntry()
  const [, id, secret] = UNDO_HASH.exec(hash) ?? []
  if (!id || !secret) {
    return <Incomplete text="Скопируйте её из письма целиком и откройте ещё раз" />
  }
  return <Undo key={hash} link={{ id, secret }} words={words} />
}

/** Shows /invitation, to which the link of an invitation leads. */
export function InvitationPage() {
  usePageTitle('Приглашение', 'tab')
  const token = useEntry().hash.slice(1)
  if (token === '') return <Incomplete text="Скопируйте приглашение целиком и откройте ещё раз" />
  return <Invitation token={token} />
}

/**
 * Shows /reply-mails, to which mails about replies link. Its form works without scripts, and posts
 * to the address of the page, which contains the token.
 */
export function ReplyMailsPage() {
  usePageTitle(REPLY_MAILS_TITLE, 'tab')
  const { name } = replyMailsIn(useEntry().search)
  const settingsLink = <a href={PATHS.settings}>настройках</a>
  if (name === 'invalid') {
    return (
      <DeadEnd
        title="Ссылка не действует"
        text={
          <>
            Возможно, она скопирована не целиком или слишком старая. Откройте её из нового письма
            или отключите письма об ответах в {settingsLink}
          </>
        }
      />
    )
  }
  if (name === 'stopped') {
    return (
      <DeadEnd
        title="Больше не пришлём писем об ответах"
        text={
          <>
            Новые ответы по-прежнему видны на сайте. Снова включить письма можно в {settingsLink}:
            «Письма об ответах и упоминаниях»
          </>
        }
      />
    )
  }
  return (
    <EmptyState
      isWholePage
      title="Не присылать писем об ответах?"
      text={
        <>
          Когда вам ответят, письма не будет. Коды для входа и сообщения о безопасности аккаунта
          приходить продолжат. Снова включить письма об ответах можно в {settingsLink}
        </>
      }
      action={
        <form method="post">
          <Button type="submit" variant="primary">
            Больше не присылать
          </Button>
        </form>
      }
    />
  )
}

/** Shows that a link is incomplete: some programs cut it at its `#`, which precedes the secret. */
function Incomplete({ text }: { text: string }) {
  return <DeadEnd title="Ссылка неполная" text={text} />
}

type UndoProps = { link: { id: string; secret: string }; words: typeof EMAIL_WORDS }

/** Undoes the change after a press, because programs that check links open this page too. */
function Undo({ link, words }: UndoProps) {
  const { mutate, isPending, isSuccess, error, errorLine } = useAction({
    mutationFn: () => undoEmailChange(link),
  })
  if (isSuccess) {
    return <Outcome title={words.done} text="Все сессии завершены. Войдите снова" />
  }
  if (error instanceof CallError && error.code === 'LINK_EXPIRED') {
    return (
      <Outcome
        title="Ссылка больше не действует"
        text={
          <>
            {words.expired}: адрес на странице <a href={PATHS.contacts}>Контакты</a>
          </>
        }
      />
    )
  }
  return (
    <EmptyState
      isWholePage
      title={words.ask}
      text={words.effect}
      action={
        <div className="stack">
          <FormError {...errorLine} />
          <Button variant="primary" pending={isPending} onClick={() => mutate()}>
            {words.act}
          </Button>
        </div>
      }
    />
  )
}

/** Shows the outcome. Its button takes the focus, because the former button has disappeared. */
function Outcome({ title, text }: { title: string; text: ReactNode }) {
  const next = useFocusOnMount<HTMLButtonElement>()
  return (
    <div role="alert">
      <EmptyState
        isWholePage
        title={title}
        text={text}
        action={
          <Button ref={next} variant="strong" onClick={openSignIn}>
            Войти
          </Button>
        }
      />
    </div>
  )
}

/** Checks an invitation. An invalid invitation does not replace the stored one of this tab. */
function Invitation({ token }: { token: string }) {
  const { isPending, data: isValid } = useInvitation(token)
  if (isPending) return <Skeleton label="Проверяем приглашение" />
  if (isValid === false) {
    return (
      <DeadEnd
        title="Приглашение больше не действует"
        text="Оно отозвано, истекло или уже использовано. Попросите новое у того, кто вас позвал. Если аккаунт у вас уже есть, просто войдите"
      />
    )
  }
  return (
    <EmptyState
      isWholePage
      title={`Вас пригласили на «${settings().appName}»`}
      text="Зарегистрируйтесь по этой ссылке: понадобится только почта"
      action={
        <Button variant="primary" onClick={openSignIn}>
          Зарегистрироваться
        </Button>
      }
    />
  )
}

function openSignIn(): void {
  openDialog({ name: 'sign-in' })
}
