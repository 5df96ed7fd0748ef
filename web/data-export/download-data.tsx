import { Download } from 'lucide'
import { useAction } from '../http/use-action.tsx'
import { write } from '../http/write.ts'
import { Icon } from '../ui/icon.tsx'
import { Row, rowClass } from '../ui/row.tsx'

/** The browser fetches the file by itself. */
export function DownloadData() {
  const download = useAction({
    mutationFn: () => write('POST /users/current/downloads', {}),
    onSuccess: ({ path }) => location.assign(path),
    errors: 'toast',
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
          download.isPending
            ? 'Готовим архив…'
            : 'Записи, отметки и всё остальное одним архивом. Не чаще раза в день'
        }
      />
    </button>
  )
}
