import { once } from 'node:events'
import { get as getHttp, type IncomingMessage } from 'node:http'
import { get as getHttps } from 'node:https'
import { onTestFinished } from 'vitest'
import { LIVE_PATH } from '../../../contract/constants.ts'

/**
 * Opens the stream of news as a browser does, until the test has finished; from `address`, if a
 * proxy in front is trusted.
 */
export async function openNews(url: string, address = '127.0.0.1') {
  const headers = { 'x-forwarded-for': address }
  const request = url.startsWith('https:')
    ? getHttps(url + LIVE_PATH, { rejectUnauthorized: false, headers })
    : getHttp(url + LIVE_PATH, { headers })
  onTestFinished(() => void request.destroy())
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return {
    response,
    /** What has come so far. */
    text: () => text,
    events: () =>
      [...text.matchAll(/^(?:id: (\d+)\n)?data: (.*)$/gm)].map(([, id, data = '']) => ({
        id,
        data: JSON.parse(data),
      })),
  }
}
