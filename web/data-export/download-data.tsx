import { Download } from 'lucide'
import { call } from '../http/call.ts'
import { errorMessage } from '../http/error-message.ts'
import { useSingleMutation } from '../http/use-single-mutation.ts'
import { Icon } from '../ui/icon.tsx'
import { Row, rowClass } from '../ui/row.tsx'
import { useToast } from '../ui/toaster.tsx'

/** The browser fetches the file by itself. */
export function DownloadData() {
  const toast = useToast()
  const download = useSingleMutation({
    mutationFn: () => call('POST /users/current/downloads', {}),
    onSuccess: ({ path }) => location.assign(path),
    onError: (error) => toast({ text: errorMessage(error) }),
  })
  return (
    <button
      type="button"
      className={rowClass}
      aria-busy={download.isPending}
      onClick={() => download.mutate()}
    >
      <Row
        icon={<Icon shape={Download} size={20} />}
        name="Скачать мои данные"
        about={
          download.isPending ? 'Готовим архив…' : 'Архив для чтения и для программ, раз в день'
        }
      />
    </button>
  )
}
