import { whenIdle } from '../platform/timing.ts'
import { wantsServiceWorker } from '../session/page-settings.ts'

const REGISTER_WITHIN_MS = 5000

export function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator) || !wantsServiceWorker()) return
  const register = () => {
    whenIdle(() => {
      navigator.serviceWorker.register('/service-worker.js').catch(() => undefined)
    }, REGISTER_WITHIN_MS)
  }
  if (document.readyState === 'complete') register()
  else addEventListener('load', register, { once: true })
}
