import { renderToString } from 'react-dom/server'
import { type PageSettings, pageAt, type RenderPage } from '../../contract/pages.ts'
import { App } from '../app/app.tsx'
import { loadFirstPage } from '../app/routes.tsx'
import { entryAt } from '../history/entry.tsx'
import { queryClient } from '../http/query-client.ts'
import { setSettings } from '../platform/page-settings.ts'
import { MARK_BRICKS } from '../ui/icon.tsx'
import { drawTile } from '../ui/monogram.tsx'
import { cacheFirstPage } from './first-page.ts'

export const pictureParts = { drawTile, mark: MARK_BRICKS }

export async function createRenderer(settings: PageSettings): Promise<RenderPage> {
  setSettings(settings)
  const lazy = ['nothing', 'text', 'author', 'search', 'reply mails'] as const
  await Promise.all(lazy.map((shows) => loadFirstPage({ shows })))
  return (path, first) => {
    const page = pageAt(path.split('?', 1)[0] ?? '')
    try {
      cacheFirstPage(first, { entryKey: 'default', page })
      return renderToString(<App entry={entryAt(path)} />)
    } finally {
      // The next page, which may be for somebody else, begins with empty caches.
      queryClient.clear()
    }
  }
}
