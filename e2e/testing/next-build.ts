import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { listen } from '../../server/testing/process/free-port.ts'

const ASSETS = join(import.meta.dirname, '../../dist/web/assets')
const TEXT = /^(?:text\/|application\/(?:javascript|json|manifest))/

/**
 * After `deploy()` the proxy answers as if the next build were deployed: every asset has another
 * name, even within HTML, scripts and styles, and the former names are 404.
 */
export async function proxyWithNextBuild(productUrl: string) {
  const names = readdirSync(ASSETS).filter((name) => !/\.(?:br|gz)$/.test(name))
  let isDeployed = false
  let isStalled = false
  let portal: string | undefined
  const server = createServer(async (request, response) => {
    if (isStalled) return
    if (portal !== undefined) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      return void response.end(portal)
    }
    const path = request.url ?? '/'
    const headers = new Headers({ cookie: request.headers.cookie ?? '' })
    const isFormer = isDeployed && names.some((name) => path === `/assets/${name}`)
    const upstream = isFormer ? '/assets/removed.js' : names.reduce(toFormer, path)
    const answer = await fetch(productUrl + upstream, { headers, redirect: 'manual' })
    const type = answer.headers.get('content-type') ?? ''
    const kept = ['content-type', 'cache-control', 'vary']
    // The inline style contains names of fonts: renamed, its hash would differ from the policy's.
    if (!isDeployed) kept.push('content-security-policy')
    const sent = [...answer.headers].filter(([name]) => kept.includes(name))
    response.writeHead(answer.status, sent.flat())
    if (!isDeployed || !TEXT.test(type)) response.end(Buffer.from(await answer.arrayBuffer()))
    else response.end(names.reduce(toNext, await answer.text()))
  })
  const port = await listen(server)
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://localhost:${port}`,
    deploy() {
      isDeployed = true
    },
    /** From now on the proxy answers everything with this page, as a captive portal does. */
    answerAll(html: string) {
      portal = html
    },
    /** From now on the proxy accepts requests, but answers none. */
    stall() {
      isStalled = true
    },
  }
}

function nextName(name: string): string {
  return name.replace(/\.(\w+)$/, '.next.$1')
}

function toNext(text: string, name: string): string {
  return text.replaceAll(name, nextName(name))
}

function toFormer(text: string, name: string): string {
  return text.replaceAll(nextName(name), name)
}
