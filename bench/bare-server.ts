import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/** The physical limit of a read: node:http alone. The JSON file holds headers and body (base64). */
const [path = ''] = process.argv.slice(2)
const { headers, body } = JSON.parse(readFileSync(path, 'utf8'))
const bytes = Buffer.from(body, 'base64')

const server = createServer((_request, response) => {
  response.writeHead(200, headers).end(bytes)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : '')
})
