import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance } from 'fastify'

type Operation = { responses: Record<string, { content?: Record<string, { schema: object }> }> }
type Document = { paths: Record<string, Record<string, Operation>> }
export type SeenAnswer = { method: string; path: string; status: number; body: unknown }

type Check = (answer: SeenAnswer) => void

/** Apps of one worker have the same document, whose schemas take long to compile. */
const checks = new Map<string, Check>()

/** Throws an Error if an answer does not fit the API's OpenAPI document. */
export function createOpenApiCheck(app: FastifyInstance): Check {
  const { paths } = app.swagger() as unknown as Document
  const key = JSON.stringify(paths)
  const check = checks.get(key) ?? checkAgainst(paths)
  checks.set(key, check)
  return check
}

function checkAgainst(paths: Document['paths']): Check {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  const described = Object.entries(paths)
    .map(([path, operations]) => ({ matches: patternOf(path), path, operations }))
    // `/posts/replies` stands before `/posts/{id}`, as in the router.
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)

  return ({ method, path, status, body }) => {
    const pathname = path.split('?', 1)[0] ?? ''
    const found = described.find(
      ({ matches, operations }) => matches.test(pathname) && operations[method.toLowerCase()],
    )
    if (!found) return
    const call = `${method} ${found.path}`
    const answer = found.operations[method.toLowerCase()]?.responses[status]
    if (!answer) throw new Error(`${call} answered ${status}, which its description lacks`)
    const schema = answer.content?.['application/json']?.schema
    if (!schema) {
      if (body !== undefined) throw new Error(`${call} answered ${status} with a body`)
    } else if (!ajv.validate(schema, body)) {
      throw new Error(`${call} answered ${status}: ${ajv.errorsText()} in ${JSON.stringify(body)}`)
    }
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`)
}
