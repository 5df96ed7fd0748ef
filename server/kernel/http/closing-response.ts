import { type IncomingMessage, ServerResponse } from 'node:http'

/**
 * Closes its connection if it begins before the request's body has come. Node would drop that body
 * later, and with it a proxy's next request if the rest never comes.
 */
export class ClosingResponse extends ServerResponse {
  /** Node calls it for each response, also where nobody else does. */
  override writeHead(...head: unknown[]): this {
    if (!this.req.complete && hasBody(this.req)) this.shouldKeepAlive = false
    return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>))
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
}
