import { expect, test } from 'vitest'
import { movePasswordToEnv } from './psql.ts'

test('psql gets the password in its environment, and an address without it', () => {
  for (const url of [
    'postgres://olga:a%25b%40c@db.example:5433/wall?sslmode=require',
    'postgres://olga@db.example:5433/wall?sslmode=require&password=a%25b%40c',
  ]) {
    expect(movePasswordToEnv(url)).toEqual({
      address: 'postgres://olga@db.example:5433/wall?sslmode=require',
      env: { PGPASSWORD: 'a%b@c' },
    })
  }
  const socket =
    'postgresql://vslukh@localhost:5432/vslukh?host=%2Fvar%2Flib%2Fthe%20wall%2Fpostgres'
  expect(movePasswordToEnv(socket)).toEqual({ address: socket, env: {} })
})
