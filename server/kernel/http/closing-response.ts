import { type IncomingMessage, ServerResponse } from 'node:http'

/**
 * A response that closes its connection if it begins before the request's body has come. Node would keep the connection and
 * drop the rest of the body when it comes; a proxy that never sends that rest puts the next caller's request in its place.
 */
export class ClosingResponse extends ServerResponse {
  /** Node calls it for each response, also where nobody else does. */
  override writeHead(...head: unknown[]): this {
    if (!this.req.complete && hasBody(this.req)) this.shouldKeepAlive = false
    return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>))
  }
}

/** Whether a request says that a body follows its head. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
}
