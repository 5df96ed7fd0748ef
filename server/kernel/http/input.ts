import type { Readable } from 'node:stream'
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { AppError } from '../errors/app-error.ts'

const NAME_MAX = 50

/** Accepts only JSON in valid UTF-8. An empty body of any type counts as no body. */
export function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseBody)
  app.addContentTypeParser('*', refuseOtherTypes)
}

async function parseBody({ headers }: FastifyRequest, body: Buffer): Promise<unknown> {
  const encoding = headers['content-encoding'] || 'identity'
  if (encoding.toLowerCase() !== 'identity') throw new AppError('UNSUPPORTED_MEDIA_TYPE')
  if (body.length === 0) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new AppError('INVALID_REQUEST', { message: 'Тело запроса — не JSON' })
  }
}

/** Parses a body that is not JSON: an empty one is accepted, any other UNSUPPORTED_MEDIA_TYPE. */
async function refuseOtherTypes({ headers }: FastifyRequest, body: Readable): Promise<void> {
  if (headers['content-length'] === '0') return
  const refusal = new AppError('UNSUPPORTED_MEDIA_TYPE')
  if (headers['transfer-encoding'] === undefined) throw refusal
  await new Promise<unknown>((resolve, reject) => {
    body.once('end', resolve).once('error', reject)
    body.once('data', () => reject(refusal))
  })
}

export function unknownFieldMessage(
  { body, query }: Endpoint,
  request: Pick<FastifyRequest, 'body' | 'query'>,
): string | undefined {
  const field = findUnknownName(body, request.body)
  if (field !== undefined) return `Неизвестное поле «${field.slice(0, NAME_MAX)}»`
  const parameter = query && findUnknownName(query, request.query)
  return parameter && `Неизвестный параметр «${parameter.slice(0, NAME_MAX)}»`
}

function findUnknownName(schema: TObject | undefined, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  for (const [name, part] of Object.entries(value)) {
    const properties: Record<string, TSchema> = schema?.properties ?? {}
    if (!Object.hasOwn(properties, name)) return name
    const inner = properties[name]
    const unknown = inner && 'properties' in inner && findUnknownName(inner as TObject, part)
    if (unknown) return `${name}.${unknown}`
  }
  return undefined
}

type InvalidPart = { keyword: string; instancePath: string; params: Record<string, unknown> }

/** What a part of a request is called: with «is missing», and with «has a value that is refused». */
const PART_NAMES: Record<string, { missing: string; invalid: string }> = {
  body: { missing: 'Не хватает поля', invalid: 'Недопустимое значение поля' },
  querystring: { missing: 'Не хватает параметра', invalid: 'Недопустимое значение параметра' },
  params: { missing: 'В адресе не хватает', invalid: 'Недопустимое значение в адресе:' },
  headers: { missing: 'Не хватает заголовка', invalid: 'Недопустимое значение заголовка' },
}

/** Names the field or parameter that the validation refused; undefined if the whole body is. */
export function invalidFieldMessage(error: FastifyError): string | undefined {
  const [first] = (error.validation ?? []) as InvalidPart[]
  const part = PART_NAMES[error.validationContext ?? '']
  if (!first || !part) return undefined
  const { keyword, params } = first
  const path = first.instancePath.split('/').filter((name) => name !== '' && !/^\d+$/.test(name))
  if (keyword === 'required') {
    return `${part.missing} «${[...path, params.missingProperty].join('.')}»`
  }
  if (path.length === 0) return undefined
  return `${part.invalid} «${path.join('.')}»${boundOf(first)}`
}

function boundOf({ keyword, params }: InvalidPart): string {
  if (keyword === 'minimum') return `: наименьшее — ${params.limit}`
  if (keyword === 'maximum') return `: наибольшее — ${params.limit}`
  if (keyword === 'maxLength') return `: не больше ${params.limit} знаков`
  return ''
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e\+?\d+)?$/i

export function integerParamsOf({ query }: Endpoint): string[] {
  const described = Object.entries(query?.properties ?? {})
  return described.flatMap(([name, schema]) =>
    'type' in schema && schema.type === 'integer' ? [name] : [],
  )
}

/** Converts the values named in `integers` to numbers if they are spelled as in JSON. */
export function convertNumbers(query: unknown, integers: string[]): void {
  const values = query as Record<string, unknown>
  for (const name of integers) {
    const value = values[name]
    if (typeof value === 'string' && JSON_NUMBER.test(value)) values[name] = Number(value)
  }
}
