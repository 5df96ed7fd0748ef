import pg from 'pg'
import { BACKGROUND } from '../../open-context.ts'

export type SentStatement = { text: string; values: unknown[] }

/** A node of a plan from EXPLAIN (ANALYZE, FORMAT JSON). */
export type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

/** The queue asks for jobs at any moment, and so do the senders of the outbox. */
const BY_QUEUE = /"graphile_worker"|\boutbox\b/

/** Whether a connection is of the pool of jobs, some of which begin with each minute. */
function isOfJobs(client: pg.Client): boolean {
  const { application_name } = Reflect.get(client, 'connectionParameters')
  return application_name === BACKGROUND.applicationName
}

/**
 * Records every statement with parameters that this process sends while `work` runs, but for those
 * of jobs.
 */
export async function captureStatements(work: () => Promise<unknown>): Promise<SentStatement[]> {
  const sent: SentStatement[] = []
  const send = pg.Client.prototype.query
  const recording = function (this: pg.Client, ...args: unknown[]) {
    const { text, values } = (args[0] as Partial<SentStatement> | undefined) ?? {}
    if (text && values && !BY_QUEUE.test(text) && !isOfJobs(this)) sent.push({ text, values })
    return Reflect.apply(send, this, args)
  }
  pg.Client.prototype.query = recording as typeof send
  try {
    await work()
  } finally {
    pg.Client.prototype.query = send
  }
  return sent
}

/**
 * Returns every node of the plan that a connection uses in the long run: from the sixth run on
 * PostgreSQL may use one plan for all values.
 */
export async function lastingPlan(
  client: pg.Client,
  { text, values }: SentStatement,
): Promise<PlanNode[]> {
  const literals = values.map(literal).join(', ')
  const run = literals === '' ? 'EXECUTE seen' : `EXECUTE seen (${literals})`
  await client.query(`PREPARE seen AS ${text}`)
  try {
    for (let times = 0; times < 6; times++) await client.query(run)
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${run}`)
    return nodesOf(rows[0]['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('DEALLOCATE seen')
  }
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

function literal(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value)
  if (Array.isArray(value)) {
    const quoted = value.map((one) => `"${String(one).replace(/["\\]/g, '\\$&')}"`)
    return pg.escapeLiteral(`{${quoted.join(',')}}`)
  }
  return pg.escapeLiteral(String(value))
}
