import { Component, type ErrorInfo, type ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'

type PageBoundaryProps = { children: ReactNode }

/** Catches a page that broke or could not be fetched; the frame around it goes on working. */
export class PageBoundary extends Component<PageBoundaryProps, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true }
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error(error, info.componentStack)
  }

  override render(): ReactNode {
    if (!this.state.broken) return this.props.children
    return (
      <EmptyState
        isWholePage
        title="Не удалось открыть страницу"
        text="Проверьте интернет и попробуйте ещё раз"
        action={
          <Button variant="strong" onClick={() => location.reload()}>
            Обновить
          </Button>
        }
      />
    )
  }
}
