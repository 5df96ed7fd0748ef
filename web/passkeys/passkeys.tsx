import { startRegistration } from '@simplewebauthn/browser'
import { KeyRound } from 'lucide'
import { type FormEvent, useId, useRef, useState } from 'react'
import { PASSKEY_NAME_MAX, PASSKEYS_MAX } from '../../contract/constants.ts'
import type { Attestation, Passkey } from '../../contract/passkeys.ts'
import { isVisible, normalizeLine } from '../../contract/text.ts'
import { formatDateTime } from '../format/time.ts'
import { usePageTitle } from '../history/entry.tsx'
import { isUnanswered } from '../http/call-error.ts'
import { Read } from '../http/read.tsx'
import { serverNow } from '../http/server-clock.ts'
import { arePasskeysAllowed } from '../platform/passkeys-allowed.ts'
import { useAction } from '../session/use-action.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/form/field.tsx'
import styles from '../ui/form/form.module.css'
import { Icon } from '../ui/icon.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { Row, rowClass, Section } from '../ui/row.tsx'
import { FormError } from '../ui/states/errors.tsx'
import { Loading } from '../ui/states/spinner.tsx'
import {
  addPasskey,
  removePasskey,
  renamePasskey,
  startPasskey,
  usePasskeys,
} from './passkeys.queries.ts'
import { outlook } from './passkeys-row.tsx'

/** Shows /settings/passkeys. */
export function PasskeysPage() {
  usePageTitle('Ключи доступа')
  const query = usePasskeys()
  return (
    <Read query={query} loading={<Loading label="Загружаем ключи доступа" />} inRow>
      {(passkeys) => <Passkeys passkeys={passkeys} />}
    </Read>
  )
}

function Passkeys({ passkeys }: { passkeys: Passkey[] }) {
  const [openId, setOpenId] = useState<string>()
  return (
    <>
      {arePasskeysAllowed() ? <Offer passkeys={passkeys} /> : <NoOffer />}
      {passkeys.length > 0 && (
        <Section title="Ваши ключи">
          <ul>
            {passkeys.map((passkey) => (
              <li key={passkey.id}>
                <PasskeyItem
                  passkey={passkey}
                  isOpen={passkey.id === openId}
                  onToggle={(isOpen) => setOpenId(isOpen ? passkey.id : undefined)}
                />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  )
}

function Offer({ passkeys }: { passkeys: Passkey[] }) {
  return (
    <div className={styles.form}>
      <p className="tip">
        Ключ хранится в телефоне, компьютере или менеджере паролей и открывается пальцем, лицом или
        PIN-кодом. С ним не нужно ждать письма
      </p>
      <p className="tip">{outlook(passkeys)}</p>
      {passkeys.length < PASSKEYS_MAX ? (
        <AddPasskey />
      ) : (
        <p>Ключей уже {PASSKEYS_MAX}, больше нельзя. Удалите тот, которым не пользуетесь</p>
      )}
    </div>
  )
}

/** Stands above the list, in which a thief's key can be removed with every browser. */
function NoOffer() {
  return (
    <div className={styles.form}>
      <p>
        Здесь ключи не работают: этот браузер или адрес сайта их не поддерживает. Войти можно с
        кодом из письма
      </p>
    </div>
  )
}

/** Why the browser created no passkey, by the name of its error. A person who cancels knows it. */
const REFUSALS: Record<string, string> = {
  NotAllowedError: '',
  AbortError: '',
  InvalidStateError: 'На этом устройстве ключ уже есть',
}
const NOT_CREATED = 'Браузер не создал ключ. Попробуйте другой браузер'

type Created = { id: string; body: Attestation }

function AddPasskey() {
  // A passkey whose answer was lost is sent again, because the browser creates no second one.
  const created = useRef<Created>(undefined)
  const [refusal, setRefusal] = useState('')
  const { mutate, isPending, errorLine } = useAction({
    async mutationFn() {
      setRefusal('')
      created.current ??= await createPasskey(setRefusal)
      if (!created.current) return
      try {
        await addPasskey(created.current)
        toast({ text: 'Ключ добавлен' })
        created.current = undefined
      } catch (error) {
        if (!isUnanswered(error)) created.current = undefined
        throw error
      }
    },
  })
  return (
    <>
      <FormError>{refusal || errorLine.children}</FormError>
      <div className="wrap">
        <Button variant="primary" pending={isPending} onClick={() => mutate()}>
          Добавить ключ
        </Button>
      </div>
    </>
  )
}

/** Returns undefined if the browser creates no passkey, and then calls `refuse`. Throws CallError. */
async function createPasskey(refuse: (why: string) => void): Promise<Created | undefined> {
  const { id, options } = await startPasskey()
  try {
    const { id: credentialId, response } = await startRegistration({ optionsJSON: options })
    const { clientDataJSON, attestationObject } = response
    return { id, body: { id: credentialId, clientDataJSON, attestationObject } }
  } catch (error) {
    refuse(REFUSALS[(error as Error).name] ?? NOT_CREATED)
    return undefined
  }
}

type PasskeyItemProps = {
  passkey: Passkey
  isOpen: boolean
  onToggle: (isOpen: boolean) => void
}

function PasskeyItem({ passkey, isOpen, onToggle }: PasskeyItemProps) {
  const { name, createdAt, usedAt } = passkey
  const formId = useId()
  const row = useRef<HTMLButtonElement>(null)
  const show = (seconds: number) => formatDateTime(seconds, serverNow() * 1000)
  const used = usedAt === null ? 'входов ещё не было' : `последний вход ${show(usedAt)}`
  function close(): void {
    onToggle(false)
    row.current?.focus()
  }

  return (
    <>
      <button
        ref={row}
        type="button"
        className={rowClass}
        aria-expanded={isOpen}
        aria-controls={formId}
        onClick={() => onToggle(!isOpen)}
      >
        <Row
          icon={<Icon shape={KeyRound} size={22} />}
          name={name}
          about={`добавлен ${show(createdAt)}, ${used}`}
          withChevron
        />
      </button>
      <div id={formId}>{isOpen && <PasskeyForm passkey={passkey} onRenamed={close} />}</div>
    </>
  )
}

type PasskeyFormProps = { passkey: Passkey; onRenamed: () => void }

function PasskeyForm({ passkey: { id, name }, onRenamed }: PasskeyFormProps) {
  const [typed, setTyped] = useState(name)
  const renaming = useAction({
    mutationFn: renamePasskey,
    onSuccess: () => {
      toast({ text: 'Название сохранено' })
      onRenamed()
    },
  })
  const removing = useAction({
    mutationFn: removePasskey,
    onSuccess: () => toast({ text: 'Ключ удалён' }),
  })
  const line = normalizeLine(typed)
  const isChanged = isVisible(line) && line !== name

  function save(event: FormEvent): void {
    event.preventDefault()
    if (isChanged) renaming.mutate({ id, name: typed })
  }

  return (
    <form className={styles.form} onSubmit={save} noValidate>
      <TextField
        label="Название ключа"
        autoComplete="off"
        maxLength={PASSKEY_NAME_MAX}
        value={typed}
        readOnly={renaming.isPending}
        onChange={(text) => {
          renaming.clearError()
          setTyped(text)
        }}
      />
      <FormError>{renaming.errorLine.children || removing.errorLine.children}</FormError>
      <div className="wrap">
        <Button type="submit" variant="primary" pending={renaming.isPending} disabled={!isChanged}>
          Сохранить
        </Button>
        <Button variant="danger" pending={removing.isPending} onClick={() => removing.mutate(id)}>
          Удалить ключ
        </Button>
      </div>
    </form>
  )
}
