import { nodeOriginOf } from '../server/kernel/config/config.ts'
import type { RefusedNetwork } from '../server/kernel/http/refusal-log.ts'
import { IDENTITY_PATH, questionHeader, type Seen } from '../server/operations/doctor/identity.ts'
import type { Context } from './command.ts'

const WAIT_MS = 2000
const SHOWN = 10

/** Asks the node at HOST and PORT for its refused networks. Returns null if it does not answer. */
export async function readRefused({ db, config }: Context): Promise<RefusedNetwork[] | null> {
  try {
    const headers = await questionHeader(db, config)
    const signal = AbortSignal.timeout(WAIT_MS)
    const answer = await fetch(nodeOriginOf(config) + IDENTITY_PATH, { headers, signal })
    return answer.ok ? ((await answer.json()) as Seen).refused : null
  } catch {
    return null
  }
}

export function refusedLines(refused: RefusedNetwork[] | null): string[] {
  if (!refused) return ['Отказы:     узел не отвечает']
  const [worst] = refused
  if (!worst) return []
  const lines = refused.slice(0, SHOWN).map(({ network, refused: count, routes }) => {
    const asked = Object.entries(routes).map(([route, times]) => `${route} × ${times}`)
    return `            ${network} × ${count}: ${asked.join(', ')}`
  })
  return [
    `Отказы:     сетей, которым этот узел за 10 минут отказал больше десяти раз: ${refused.length}`,
    ...lines,
    `            Закрыть: vslukh ban add network ${worst.network} --all --for 1h`,
  ]
}
