import { QueryClient } from '@tanstack/react-query'
import { renderToString } from 'react-dom/server'
import { type PageSettings, pageAt, type RenderPage } from '../../contract/pages.ts'
import { App } from '../app/app.tsx'
import { loadFirstPage } from '../app/routes.tsx'
import { entryAt } from '../history/entry.tsx'
import { setSettings } from '../session/page-settings.ts'
import { MARK_BRICKS } from '../ui/icon.tsx'
import { drawTile } from '../ui/monogram.tsx'
import { showFirstPage } from './first-page.ts'

export const pictureParts = { drawTile, mark: MARK_BRICKS }

export async function createRenderer(settings: PageSettings): Promise<RenderPage> {
  setSettings(settings)
  const lazy = ['nothing', 'text', 'author', 'search'] as const
  await Promise.all(lazy.map((shows) => loadFirstPage({ shows })))
  return (path, first) => {
    const client = new QueryClient()
    const page = pageAt(path.split('?', 1)[0] ?? '')
    showFirstPage(client, first, { entryKey: 'default', page })
    const html = renderToString(<App client={client} entry={entryAt(path)} />)
    // Without this, the timers of its entries would keep the client in memory for half an hour.
    client.clear()
    return html
  }
}
