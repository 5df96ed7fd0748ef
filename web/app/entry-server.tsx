import { QueryClient } from '@tanstack/react-query'
import { renderToString } from 'react-dom/server'
import { StaticRouter } from 'react-router'
import { type PageSettings, pageAt, type RenderPage } from '../../contract/pages.ts'
import { setSettings } from '../browser/page-settings.ts'
import { App } from './app.tsx'
import { showFirstPage } from './first-page.ts'
import { loadFirstPage } from './router.tsx'

/** The server's way into the web app: renders public pages as a visitor sees them. */
export async function createRenderer(settings: PageSettings): Promise<RenderPage> {
  setSettings(settings)
  await Promise.all([loadFirstPage({ shows: 'nothing' }), loadFirstPage({ shows: 'text' })])
  return (path, first) => {
    const client = new QueryClient()
    const page = pageAt(path.split('?', 1)[0] ?? '')
    showFirstPage(client, first, { entryKey: 'default', page })
    const html = renderToString(
      <App client={client} router={(app) => <StaticRouter location={path}>{app}</StaticRouter>} />,
    )
    // Otherwise the timers of its entries would keep it in memory for half an hour.
    client.clear()
    return html
  }
}
