import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance } from 'fastify'

type Operation = { responses: Record<string, { content?: Record<string, { schema: object }> }> }
type Document = { paths: Record<string, Record<string, Operation>> }
export type SeenAnswer = { method: string; path: string; status: number; body: unknown }

type Check = (answer: SeenAnswer) => void

/** All apps of a worker have one API, whose schemas take long to describe and to compile. */
let check: Check | undefined

/** Throws an Error if an answer does not fit the API's OpenAPI document. */
export function createOpenApiCheck(app: FastifyInstance): Check {
  check ??= checkAgainst(app.swagger() as unknown as Document)
  return check
}

function checkAgainst({ paths }: Document): Check {
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
