import { hidden, hide } from '../posts/cache/hidden.ts'
import { write } from '../session/write.ts'

const FOLDED_MAX = 100

/** Reports a post, which this browser then shows folded. */
export async function sendReport(id: string, reason_id: string, comment: string): Promise<void> {
  const body = comment === '' ? {} : { comment }
  await write('POST /posts/:id/reports', { params: { id }, query: { reason_id }, body })
  const others = hidden.get().reported?.filter((other) => other !== id) ?? []
  hide({ reported: [id, ...others].slice(0, FOLDED_MAX) })
}
