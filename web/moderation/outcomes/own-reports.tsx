import { useEffect } from 'react'
import type { OwnReport } from '../../../contract/moderation.ts'
import { formatDate } from '../../format/labels.ts'
import { usePageTitle } from '../../history/entry.tsx'
import { Read } from '../../http/read.tsx'
import { whenVisible } from '../../platform/timing.ts'
import { classes } from '../../ui/classes.ts'
import { Pause } from '../../ui/pause.tsx'
import { EmptyState } from '../../ui/states/empty-state.tsx'
import { Skeleton } from '../../ui/states/skeleton.tsx'
import { markReportsSeen, useOwnReports } from './outcomes.queries.ts'
import styles from './own-reports.module.css'

const OUTCOMES: Record<OwnReport['outcome'], string> = {
  open: 'На рассмотрении',
  removed: 'Запись удалена',
  kept: 'Нарушения не нашли',
}

/** Shows /settings/reports, and marks the shown outcomes as seen. */
export function OwnReports() {
  usePageTitle('Мои жалобы')
  const query = useOwnReports()
  const hasNew = query.data?.reports.some(({ isNew }) => isNew) ?? false
  useEffect(() => {
    // Ignores a failure: the outcomes are then still new at the next visit.
    if (hasNew) return whenVisible(() => void markReportsSeen().catch(() => {}))
  }, [hasNew])
  return (
    <Read query={query} loading={<Skeleton count={3} label="Загружаем жалобы" />}>
      {({ reports }) =>
        reports.length === 0 ? (
          <EmptyState
            title="Жалоб нет"
            text="Когда вы пожалуетесь на запись, здесь будет видно, что решили"
          />
        ) : (
          <ul>
            {reports.map((report) => (
              <OwnReportRow key={report.id} report={report} />
            ))}
          </ul>
        )
      }
    </Read>
  )
}

function OwnReportRow({ report }: { report: OwnReport }) {
  const { outcome, isNew, reason, postText, comment, createdAt } = report
  return (
    <li className={classes('stack band', styles.report)}>
      <p className="line">
        <b className={styles.outcome} data-outcome={outcome}>
          {OUTCOMES[outcome]}
        </b>
        {isNew && (
          <>
            <Pause mark="," />
            <span className={classes('act', styles.fresh)}>новое</span>
          </>
        )}
      </p>
      <p className="soft">
        {reason} · {formatDate(createdAt)}
      </p>
      {postText === '' ? (
        <p className="soft">Запись удалена автором</p>
      ) : (
        <blockquote className={classes('quoted clamp', styles.text)} dir="auto">
          {postText}
        </blockquote>
      )}
      {comment && <p className="soft">Вы написали: {comment}</p>}
    </li>
  )
}
