import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../../../contract/endpoint.ts'

const CONTRACT = join(import.meta.dirname, '../../../contract')

/** Returns every call of the contract by its name, such as `POST /posts/:id/likes`. */
export async function allEndpoints(): Promise<Map<string, Endpoint>> {
  const found = new Map<string, Endpoint>()
  for (const file of globSync('*.ts', { cwd: CONTRACT, exclude: ['*.test.ts'] })) {
    const exported: Record<string, unknown> = await import(join(CONTRACT, file))
    for (const value of Object.values(exported)) {
      if (isEndpoint(value)) found.set(`${value.method} ${value.path}`, value)
    }
  }
  return found
}

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'access' in value && 'path' in value
}
