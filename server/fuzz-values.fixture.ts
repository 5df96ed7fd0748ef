import fc from 'fast-check'

/** The parts of JSON Schema that the API's document uses. */
export type Schema = {
  type?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
}

/** Names for values that only the running test knows, such as the id of an existing post. */
export const KNOWN = [
  '$post',
  '$own',
  '$reply',
  '$gone',
  '$session',
  '$operation',
  '$change',
  '$username',
  '$id',
] as const

const HOSTILE = [
  '',
  'a\u0000b',
  '\r\nSet-Cookie: a=b',
  '\u202eabc\u202c',
  '\u200b',
  `a${'\u0301'.repeat(300)}`,
  '😀'.repeat(501),
  "'; DROP TABLE posts; --",
  '../../etc/passwd',
  '%00',
  '__proto__',
  'null',
  '-1',
  '1e9',
  '9223372036854775808',
  'x'.repeat(5000),
]

/** Strings that often break software. */
export const hostileString = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 600 }),
)

/** Values that a real client would send under these names. */
const USUAL: Record<string, fc.Arbitrary<string>> = {
  email: fc.oneof(fc.constant('$email'), fc.emailAddress({ size: 'small' })),
  clientToken: fc.constantFrom('$clientToken', '$clientToken', 'another client'),
  confirmCode: fc.constantFrom('$code', '$code', '000000', '123456'),
  text: fc.oneof(fc.lorem(), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 })),
  username: fc.oneof(fc.constant('$username'), fc.stringMatching(/^[A-Za-z0-9_]{5,32}$/)),
  id: fc.constantFrom(...KNOWN),
  userId: fc.constantFrom('$id', '999999999'),
  cursor: fc.constantFrom('$post', '1', '5', '999999999'),
  reason_id: fc.constantFrom('1', '2', '8', '99'),
  page: fc
    .oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 2 ** 31 - 1 }))
    .map(String),
}

export function fitting(name: string, schema: Schema): fc.Arbitrary<unknown> {
  if (schema.properties) return fittingObject(schema)
  const usual = USUAL[name]
  if (usual) return usual
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const { minimum = 0, maximum = 2 ** 31 - 1, minLength = 0, maxLength = 50 } = schema
  if (schema.type === 'integer') return fc.integer({ min: minimum, max: maximum })
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u')
  return fc
    .string({ unit: 'grapheme-ascii', minLength, maxLength })
    .filter((value) => pattern?.test(value) ?? true)
}

/** Generates objects with every required field and some of the others. */
export function fittingObject({ properties = {}, required = [] }: Schema) {
  const fields = Object.entries(properties).map(([name, schema]) => [name, fitting(name, schema)])
  return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: required,
  })
}

/** Generates objects with exactly one wrong, missing or extra field. */
export function brokenObject(schema: Schema): fc.Arbitrary<unknown> {
  const names = Object.keys(schema.properties ?? {})
  const name = fc.constantFrom(...names, 'extra', '__proto__', 'constructor')
  return fc
    .tuple(
      fittingObject(schema),
      name,
      fc.oneof(fc.jsonValue(), hostileString, fc.constant(undefined)),
    )
    .map(([object, field, value]) => {
      // In JSON, `__proto__` is an ordinary field.
      const fields = Object.entries({ ...object }).filter(([key]) => key !== field)
      return value === undefined
        ? Object.fromEntries(fields)
        : Object.fromEntries([...fields, [field, value]])
    })
}
