import { Download } from 'lucide'
import { useAction } from '../session/use-action.tsx'
import { Icon } from '../ui/icon.tsx'
import { Row, rowClass } from '../ui/row.tsx'
import { requestDownload } from './data-export.queries.ts'

export function DownloadData() {
  const download = useAction({
    mutationFn: requestDownload,
    onSuccess: ({ path }) => save(path),
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

/** Lets the browser save a file. Unlike a navigation, a lost connection does not replace the page. */
function save(path: string): void {
  const link = document.createElement('a')
  link.href = path
  link.download = ''
  link.click()
}
