import { localStore, sessionStore } from '../platform/storage.ts'
import { settings } from '../session/page-settings.ts'
import { VISITS_KEY } from '../session/stored-keys.ts'
import { toast } from '../ui/toaster.tsx'

/** https://wicg.github.io/manifest-incubations/#beforeinstallpromptevent-interface */
type InstallEvent = Event & { prompt: () => Promise<unknown> }

/** The offer is made once, at the first visit after this number. A visit lasts as long as a tab. */
const VISITS = 3
const SHOWN_MS = 12_000

export function offerInstall(event: Event): void {
  const isNew = sessionStore.read(VISITS_KEY) === null
  const visits = Number(localStore.read(VISITS_KEY))
  if (!isNew || visits > VISITS) return
  sessionStore.write(VISITS_KEY, 'counted')
  localStore.write(VISITS_KEY, String(visits + 1))
  if (visits < VISITS) return
  const onSelect = () => void (event as InstallEvent).prompt()
  const link = { label: 'Установить', onSelect, pageOnly: true }
  const text = `«${settings().appName}» можно установить как приложение`
  toast({ text, link }, { durationMs: SHOWN_MS })
}
