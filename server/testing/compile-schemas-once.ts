import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'

let compilers: Pick<FastifyInstance, 'validatorCompiler' | 'serializerCompiler'> | undefined

/** Every app of a worker has the same schemas, which take most of its start to compile. */
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  const { validatorCompiler, serializerCompiler } = compilers ?? {}
  if (validatorCompiler) fastify.setValidatorCompiler(validatorCompiler)
  if (serializerCompiler) fastify.setSerializerCompiler(serializerCompiler)
  fastify.addHook('onReady', async () => {
    compilers ??= {
      validatorCompiler: once(fastify.validatorCompiler),
      serializerCompiler: once(fastify.serializerCompiler),
    }
  })
})

function once<Route, Result>(compile?: (route: Route) => Result) {
  const compiled = new Map<string, Result>()
  return (
    compile &&
    ((route: Route): Result => {
      const key = JSON.stringify(route)
      const result = compiled.get(key) ?? compile(route)
      compiled.set(key, result)
      return result
    })
  )
}
