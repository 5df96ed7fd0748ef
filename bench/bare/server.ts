import { createServer } from 'node:http'
import { listen } from '../../server/testing/process/free-port.ts'

/** The physical limit of a read: node:http alone. Prints its port. */
const { headers, base64 } = JSON.parse(process.argv[2] ?? '')
const body = Buffer.from(base64, 'base64')
console.log(
  await listen(createServer((_request, response) => response.writeHead(200, headers).end(body))),
)
