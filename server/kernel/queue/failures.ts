import type { WorkerEvents } from 'graphile-worker'
import type { Pool } from 'pg'

/** Stores which tasks fail again and again. Errors of these statements are those of an outage. */
export function recordFailures(events: WorkerEvents, pool: Pool): void {
  const store = (text: string, task: string) => pool.query(text, [task]).catch(() => {})
  events.on('job:error', ({ job }) => {
    void store(
      `INSERT INTO failing_tasks (task) VALUES ($1)
        ON CONFLICT (task) DO UPDATE SET failures = failing_tasks.failures + 1`,
      job.task_identifier,
    )
  })
  events.on('job:success', ({ job }) => {
    void store('DELETE FROM failing_tasks WHERE task = $1', job.task_identifier)
  })
}
