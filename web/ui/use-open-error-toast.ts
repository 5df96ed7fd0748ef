import { useCallback } from 'react'
import { canReload } from '../browser/lazy-chunk.ts'
import { useToast } from './toaster.tsx'

/**
 * The function that says why a dialog or a menu does not open: its chunk could not be loaded. If the server answers, the
 * network is not to blame: a release removed the chunk, or the browser remembers the failure. Then a reload is offered.
 */
export function useOpenErrorToast(): () => Promise<void> {
  const toast = useToast()
  return useCallback(async () => {
    if (await canReload()) {
      const link = { label: 'Обновить страницу', onSelect: () => location.reload() }
      toast({ text: 'Не удалось открыть окно', link })
    } else {
      toast({ text: 'Не удалось открыть окно. Проверьте интернет и повторите' })
    }
  }, [toast])
}
