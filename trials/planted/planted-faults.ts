/** A fault in a copy of the product, and the judge that must report it. */
export type PlantedFault = {
  judge: string
  fault: string
  /** The file has this text once. It becomes `planted`. */
  file: string
  text: string
  planted: string
  /** The program that runs the judge, and its arguments. */
  run: string[]
  env?: Record<string, string>
  /** What the judge says of the fault. */
  reports: RegExp
}

/** One fault for each judge of the house. A judge that stays silent proves nothing. */
export const PLANTED_FAULTS: PlantedFault[] = [
  {
    judge: 'counts',
    fault: 'a like of somebody who left is counted off once more when it is deleted',
    file: 'server/schema/007-liked-list.sql',
    text: 'array_agg(-1)) FROM old_rows WHERE NOT user_left;',
    planted: 'array_agg(-1)) FROM old_rows;',
    run: ['vitest', 'run', '--project', 'faults', 'server/features/moderation/random-acts.test.ts'],
    env: { ACTS_RUNS: '5' },
    reports: /likes_count/,
  },
  {
    judge: 'pairs',
    fault: 'a like does not wait for what becomes of its post',
    file: 'server/schema/012-one-call-a-write.sql',
    text: 'deadlocks.\n  PERFORM FROM visible_posts WHERE id = liked_id FOR NO KEY UPDATE;',
    planted: 'deadlocks.\n  PERFORM FROM visible_posts WHERE id = liked_id;',
    run: ['vitest', 'run', '--project', 'server', 'trials/pairs/sample.test.ts'],
    reports: /FAIL .*×/,
  },
  {
    judge: 'lost answers',
    fault: 'each attempt to send a text has a key of its own',
    file: 'web/posts/compose/compose.queries.ts',
    text: "{ 'idempotency-key': text.sent?.key ?? text.id }",
    planted: "{ 'idempotency-key': String(Math.random()) }",
    run: ['vitest', 'run', '--project', 'e2e', 'trials/lost-answers/sample.test.ts'],
    reports: /publish: drop POST \/posts 1.*public\.posts has/s,
  },
  {
    judge: 'acknowledged writes',
    fault: 'the database confirms what it has not written',
    file: 'server/operations/embedded-postgres/postmaster.ts',
    text: "'synchronous_commit=on'",
    planted: "'synchronous_commit=off', 'wal_writer_delay=10s'",
    run: ['vitest', 'run', '--project', 'faults', 'trials/faults/kill.test.ts'],
    reports: /expected \[.*\] to deeply equal \[\]/,
  },
  {
    judge: 'hands',
    fault: 'a field cleans what is typed, as if it were pasted',
    file: 'web/ui/form/field.tsx',
    text: 'onChange={(event) => onChange(event.target.value)}\n          onPaste',
    planted:
      'onChange={(event) => onChange(cleanPaste ? cleanPaste(event.target.value) : event.target.value)}\n          onPaste',
    run: ['vitest', 'run', '--project', 'e2e', 'e2e/typed-fields.test.ts'],
    reports: /FAIL .*typed-fields/,
  },
  {
    judge: 'access',
    fault: 'anybody can stop the news of a post',
    file: 'server/features/answers/answers.repository.ts',
    text: 'AND owner_id =',
    planted: 'AND 0 <',
    run: ['vitest', 'run', '--project', 'server', 'server/access.test.ts'],
    reports: /FAIL .*\/mute.* returns to the other/,
  },
  {
    judge: 'privacy',
    fault: 'the log has what people send',
    file: 'server/kernel/http/request-log.ts',
    text: 'this.record({ ...line, network: request.ip, refusalFacts })',
    planted: 'this.record({ ...line, sent: request.body, network: request.ip, refusalFacts })',
    run: ['vitest', 'run', '--project', 'server', 'server/written-data.test.ts'],
    reports: /FAIL .*written-data/,
  },
  {
    judge: 'privacy',
    fault: 'expired codes are kept',
    file: 'server/jobs.ts',
    text: 'if (await mayErase()) for (const prune of pruning) await prune(background)',
    planted: 'if (await mayErase()) for (const prune of pruning.slice(1)) await prune(background)',
    run: ['vitest', 'run', '--project', 'server', 'server/retention.test.ts'],
    reports: /FAIL .*retention/,
  },
  {
    judge: 'failing calls',
    fault: 'a backup is called made although its folder was not synced',
    file: 'server/operations/backup/backup-folder.ts',
    text: `async (cause) => {
    await removePath(path)
    throw cause
  }`,
    planted: '() => {}',
    run: ['vitest', 'run', '--project', 'server', 'trials/failing-calls/sample.test.ts'],
    reports: /fsync \d EIO: success/,
  },
  {
    judge: 'walk',
    fault: 'closing the form forgets the draft',
    file: 'web/posts/compose/post-form.tsx',
    text: 'if (isSessionClosed()) return onClose()',
    planted: 'text.remove()\n    if (isSessionClosed()) return onClose()',
    run: ['vitest', 'run', '--project', 'walk'],
    env: { HANDS: '1', MINUTES: '3' },
    reports: /is nowhere/,
  },
  {
    judge: 'month',
    fault: 'the journal keeps the address of an account that the operator has erased',
    file: 'server/features/account-deletion/account-deletion.service.ts',
    text: `await closeAccount(tx, userId)
    await appendToJournal(tx, { actor, action: ERASE_ACTION, userId })`,
    planted: `const emails = tx.selectFrom('users').select('email').where('id', '=', userId)
    const details = await emails.executeTakeFirstOrThrow()
    await closeAccount(tx, userId)
    await appendToJournal(tx, { actor, action: ERASE_ACTION, userId, details })`,
    run: ['node', 'trials/month/month.ts'],
    env: { SEED: '4', DAYS: '2', PEOPLE: '40' },
    reports: /journal has what was erased/,
  },
]
