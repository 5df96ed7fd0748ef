import type { FastifyInstance } from 'fastify'
import Type, { type TObject, type TSchema } from 'typebox'
import { CONTRACT } from '../../../contract/api.ts'
import { API_PREFIX } from '../../../contract/constants.ts'
import { type Endpoint, isEndpoint, strictObject } from '../../../contract/endpoint.ts'
import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'
import { CachedResponse } from '../cache/cached-response.ts'
import type { Limits } from '../limits/limits.ts'
import { PAGE_FILES } from './call-limits.ts'
import { errorsOf, headersOf } from './route-schema.ts'

const GUIDE = `Calls take and return JSON. Times are seconds since 1970 in UTC. Unknown fields are refused.

**Signing in.** \`POST /registrations\` or \`POST /logins\` mails a code of six digits. The matching \`…/verify\` returns an
access token for the header \`Authorization: Bearer …\`, and sets a session cookie. Shortly before \`expiresAt\`,
\`PATCH /sessions/current\` turns the cookie into the next token, and replaces the cookie: store both.

**Lists** of posts take \`limit\` and \`cursor\`: send the \`nextCursor\` of a page to read the next one, until it is null.

**Errors** have a \`code\` for programs and a \`message\` in Russian for people. After 429 and 503 wait for as many seconds
as \`Retry-After\` has. A publication that is sent again with the same \`Idempotency-Key\` is published once.`

const HEADERS = {
  ETag: {
    description:
      'A read with this value in `If-None-Match` returns 304 while the answer is the same',
    schema: { type: 'string' },
  },
  'Set-Cookie': {
    description: 'The session cookie, or its end. `PATCH /sessions/current` takes it',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds after which the call can be sent again',
    schema: { type: 'integer', minimum: 1 },
  },
}
type HeaderName = keyof typeof HEADERS

/** The errors of a call that can be sent again later. */
const WAITS: readonly ErrorCode[] = ['TOO_MANY_REQUESTS', 'UNAVAILABLE', 'MAX_CONFIRM_ATTEMPTS']

const ErrorCodes = Type.Enum(Object.keys(ERRORS) as ErrorCode[], {
  description: Object.entries(ERRORS)
    .map(([code, { status, message }]) => `- \`${code}\` (${status}): ${message}`)
    .join('\n'),
})
const ErrorBody = strictObject({
  code: ErrorCodes,
  message: Type.String({ description: 'What went wrong, in Russian, for people' }),
})

const EXPORTED: [string, unknown][] = [
  ...CONTRACT.flatMap((file) => Object.entries(file)),
  ['Error', ErrorBody],
  ['ErrorCode', ErrorCodes],
]

/** Objects and enumerations have a name in the document. Numbers and strings are written out. */
function isNamed(value: unknown): value is TSchema {
  return Type.IsSchema(value) && (Type.IsObject(value) || Type.IsEnum(value))
}

/** The names of exported schemas, by their JSON, because an optional field has a copy of its schema. */
const NAMES = new Map(
  EXPORTED.filter(([, value]) => isNamed(value)).map(([name, value]) => [
    JSON.stringify(value),
    name,
  ]),
)

/** Collects the named schemas that a document refers to. */
class Components {
  readonly schemas: Record<string, object> = {}

  /** Returns a reference to a named schema, and any other schema written out. */
  refer(schema: TSchema): object {
    const name = NAMES.get(JSON.stringify(schema))
    if (name === undefined) return this.writeOut(schema)
    this.schemas[name] ??= this.writeOut(schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  /** Returns a schema with references to the named schemas in it. */
  writeOut(schema: TSchema): object {
    const { properties, items, anyOf } = schema as {
      properties?: Record<string, TSchema>
      items?: TSchema
      anyOf?: TSchema[]
    }
    return {
      // Generators of clients need the type.
      ...(Type.IsEnum(schema) && { type: 'string' }),
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, value]) => [name, this.refer(value)]),
        ),
      }),
      ...(items && { items: this.refer(items) }),
      ...(anyOf && { anyOf: anyOf.map((one) => this.refer(one)) }),
    }
  }
}

function parametersOf(components: Components, endpoint: Endpoint): object[] {
  const { params, query } = endpoint
  const places = { path: params, query, header: headersOf(endpoint) }
  return Object.entries(places).flatMap(([place, schema]) =>
    Object.entries((schema as TObject | undefined)?.properties ?? {}).map(([name, value]) => {
      const { description, ...rest } = components.writeOut(value) as { description?: string }
      const required = schema?.required?.includes(name) ?? false
      return { name, in: place, required, ...(description && { description }), schema: rest }
    }),
  )
}

type DescribedAnswer = { description: string; headers?: object; content?: object }

function answersOf(components: Components, endpoint: Endpoint): Record<number, DescribedAnswer> {
  const { status, answer, cache, setsCookie } = endpoint
  const named: HeaderName[] = [
    ...(cache ? ['ETag' as const] : []),
    ...(setsCookie ? ['Set-Cookie' as const] : []),
  ]
  const answers: Record<number, DescribedAnswer> = {
    [status]: {
      description: answer ? 'The answer' : 'Done; the answer is empty',
      ...headersNamed(...named),
      ...(answer && jsonOf(components.refer(answer))),
    },
  }
  if (cache) {
    const description = 'The answer is still the one that `If-None-Match` names'
    answers[304] = { description, ...headersNamed('ETag') }
  }
  for (const [status, codes] of errorsOf(endpoint)) {
    const ofStatus = { type: 'object', properties: { code: { type: 'string', enum: codes } } }
    answers[status] = {
      description: codes.join(', '),
      ...(codes.some((code) => WAITS.includes(code)) && headersNamed('Retry-After')),
      ...jsonOf({ allOf: [components.refer(ErrorBody), ofStatus] }),
    }
  }
  return answers
}

function jsonOf(schema: object) {
  return { content: { 'application/json': { schema } } }
}

function headersNamed(...names: HeaderName[]) {
  if (names.length === 0) return {}
  const headers = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
  return { headers: Object.fromEntries(headers) }
}

function operationOf(components: Components, operationId: string, endpoint: Endpoint) {
  const { summary, body } = endpoint
  const parameters = parametersOf(components, endpoint)
  return {
    operationId,
    summary,
    tags: [tagOf(endpoint)],
    security: security(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: (body.required?.length ?? 0) > 0,
        ...jsonOf(components.writeOut(body)),
      },
    }),
    responses: answersOf(components, endpoint),
  }
}

function tagOf({ path }: Endpoint): string {
  return path.split('/')[1] ?? ''
}

function security({ access }: Endpoint) {
  if (access === 'user' || access === 'moderator') return [{ bearer: [] }]
  return access === 'cookie' ? [{ cookie: [] }] : [{}, { bearer: [] }]
}

type Wall = { appName: string; cookieName: string; publicUrl: string | undefined }

/** Returns the OpenAPI document, which describes every endpoint of the contract. */
export function describeContract({ appName, cookieName, publicUrl }: Wall) {
  const components = new Components()
  const paths: Record<string, Record<string, ReturnType<typeof operationOf>>> = {}
  const tags = new Set<string>()
  for (const [name, endpoint] of EXPORTED) {
    if (!isEndpoint(endpoint)) continue
    tags.add(tagOf(endpoint))
    const path = API_PREFIX + endpoint.path.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][endpoint.method.toLowerCase()] = operationOf(components, name, endpoint)
  }
  return {
    openapi: '3.1.0',
    info: { title: `${appName}: API`, version: '1', description: GUIDE },
    // Without an address of its own, a wall is where the document was read.
    servers: [{ url: publicUrl ?? '/' }],
    tags: Array.from(tags, (name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      headers: HEADERS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The `accessToken` of a sign-in; it lives until its `expiresAt`',
        },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName,
          description: 'The session cookie of a sign-in. Each refresh replaces it',
        },
      },
    },
  }
}

/** Serves the OpenAPI document. */
export function serveDescription(
  app: FastifyInstance,
  { limits, ...wall }: Wall & { limits: Limits },
) {
  let document: CachedResponse | undefined
  app.get('/api/v1/openapi.json', {
    onRequest: ({ ip }) => limits.charge([{ limit: PAGE_FILES, ip }]),
    async handler(request, reply) {
      document ??= new CachedResponse({
        route: 'file',
        body: Buffer.from(JSON.stringify(describeContract(wall))),
        type: 'application/json; charset=utf-8',
        headers: {},
        cacheControl: 'no-store',
      })
      return document.send({ request, reply })
    },
  })
}
