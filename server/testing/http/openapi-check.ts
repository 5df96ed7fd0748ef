import { Ajv2020 } from 'ajv/dist/2020.js'
import { describeContract } from '../../kernel/http/openapi.ts'

export type SeenAnswer = {
  method: string
  path: string
  status: number
  headers: Headers
  body: unknown
}

const DOCUMENT = describeContract({ appName: '', cookieName: '', publicUrl: undefined })
const AJV = new Ajv2020({ strict: false, allErrors: true }).addSchema(DOCUMENT, 'openapi.json')

const DESCRIBED = Object.entries(DOCUMENT.paths)
  .map(([path, operations]) => ({ matches: patternOf(path), path, operations }))
  // `/posts/replies` stands before `/posts/{id}`, as in the router.
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length)

/** Throws an Error if an answer does not fit the API's OpenAPI document. */
export function checkAnswer({ method, path, status, headers, body }: SeenAnswer): void {
  const pathname = path.split('?', 1)[0] ?? ''
  const of = method.toLowerCase()
  const found = DESCRIBED.find((it) => it.matches.test(pathname) && it.operations[of])
  if (!found) return
  const answered = `${method} ${found.path} answered ${status}`
  const answer = found.operations[of]?.responses[status]
  if (!answer) throw new Error(`${answered}, which its description lacks`)
  const undescribed = Object.keys(DOCUMENT.components.headers).filter(
    (name) => headers.has(name) && !(name in (answer.headers ?? {})),
  )
  if (undescribed.length > 0) throw new Error(`${answered} with ${undescribed.join(', ')}`)
  const mustWait = status === 429 || status === 503
  if (mustWait && !headers.has('retry-after')) throw new Error(`${answered} without Retry-After`)
  if (!answer.content) {
    if (body !== undefined) throw new Error(`${answered} with a body`)
    return
  }
  const place = `paths/${found.path.replaceAll('/', '~1')}/${of}/responses/${status}`
  const validate = AJV.getSchema(`openapi.json#/${place}/content/application~1json/schema`)
  if (validate?.(body) !== true) {
    throw new Error(`${answered}: ${AJV.errorsText(validate?.errors)} in ${JSON.stringify(body)}`)
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`)
}
