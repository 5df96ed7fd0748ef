import { globSync } from 'node:fs'
import { join } from 'node:path'
import { type Endpoint, isEndpoint } from '../../../contract/endpoint.ts'

const CONTRACT = join(import.meta.dirname, '../../../contract')

/** Returns every call of the contract by its name, such as `POST /posts/:id/likes`. */
export async function allEndpoints(): Promise<Map<string, Endpoint & { exportedAs: string }>> {
  const found = new Map<string, Endpoint & { exportedAs: string }>()
  for (const file of globSync('*.ts', { cwd: CONTRACT, exclude: ['*.test.ts', 'api.ts'] })) {
    const exported: Record<string, unknown> = await import(join(CONTRACT, file))
    for (const [exportedAs, value] of Object.entries(exported)) {
      if (isEndpoint(value)) found.set(`${value.method} ${value.path}`, { ...value, exportedAs })
    }
  }
  return found
}
