import { useCallback } from 'react'
import { couldReload } from './could-reload.ts'
import { useToast } from './toaster.tsx'

/**
 * The function that says why no window or menu opens: its code could not be fetched. Where the server answers, the
 * network is not to blame: a release took the code away, or the browser remembers the failure. A reload helps then.
 */
export function useOpenFailure(): () => Promise<void> {
  const toast = useToast()
  return useCallback(async () => {
    if (await couldReload()) {
      const link = { label: 'Обновить страницу', onSelect: () => location.reload() }
      toast({ text: 'Не удалось открыть окно', link })
    } else {
      toast({ text: 'Не удалось открыть окно. Проверьте интернет и повторите' })
    }
  }, [toast])
}
