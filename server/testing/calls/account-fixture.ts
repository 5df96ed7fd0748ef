import { randomBytes, randomUUID } from 'node:crypto'
import type { Post } from '../../../contract/posts.ts'
import { DEVICE, type TestUser } from '../http/client.ts'
import type { TestApp } from '../test-app.ts'

type Operation = { id: string; confirmCode: string }
export type AccountFixture = {
  owner: TestUser
  post: Post
  /** The owner's other session, and one operation of each kind with its code. */
  sessionId: string
  passkeyId: string
  change: Operation
  deletion: Operation
  login: Operation
  registration: Operation
}

export const newEmail = () => `new-${randomUUID()}@example.org`

export async function createAccountFixture(app: TestApp): Promise<AccountFixture> {
  const owner = await app.signUp()
  const second = await app.signIn(owner.email)
  const { body } = await app.call('GET', '/sessions', { token: second.token })
  const { clientToken, token } = owner
  const known = { clientToken, device: DEVICE }
  const start = async (method: string, path: string, body: object): Promise<Operation> => {
    const { id } = (await app.call(method, path, { token, body })).body
    return { id, confirmCode: app.codeFor(id) }
  }
  return {
    owner,
    post: await app.publish(owner),
    sessionId: body.sessions[0].id,
    passkeyId: await storePasskey(app, owner),
    change: await start('PUT', '/users/current/email', { email: newEmail(), clientToken }),
    deletion: await start('POST', '/users/current/deletion', { clientToken }),
    login: await start('POST', '/logins', { email: owner.email, ...known }),
    registration: await start('POST', '/registrations', { email: newEmail(), ...known }),
  }
}

/** Stores a passkey with which nobody can sign in. Returns its id. */
export async function storePasskey({ sql }: Pick<TestApp, 'sql'>, { id }: Pick<TestUser, 'id'>) {
  const [passkey] = await sql<{ id: string }>`
    INSERT INTO passkeys (user_id, credential_id, public_key, counter, is_synced, is_backed_up,
      name)
    VALUES (${id}, ${randomBytes(16)}, '', 0, false, false, 'Ключ от стены') RETURNING id`
  return passkey?.id ?? ''
}

/** Reads everything of the owner, which nobody else may change. */
export async function readOwnedRows(app: TestApp, { owner, post }: AccountFixture) {
  const { token } = owner
  const { actions, ...own } = (await app.call('GET', `/posts/${post.id}`)).body
  // Anybody may answer: that changes what the owner has not read, but nothing that they own.
  const { received: _, ...account } = (await app.call('GET', '/users/current', { token })).body
  return {
    post: own,
    parent: actions.parent_post_id,
    account,
    passkeys: (await app.call('GET', '/users/current/passkeys', { token })).body,
    sessions: (await app.call('GET', '/sessions', { token })).body,
    likes: (await app.call('GET', '/posts?filter=liked', { token })).body.total,
  }
}
