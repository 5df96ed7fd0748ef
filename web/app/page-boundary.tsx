import { Component, type ErrorInfo, type ReactNode } from 'react'
import { PageFailure, reloadIfPossible } from './page-failure.tsx'

type PageBoundaryProps = { children: ReactNode }

/** Catches a page that broke; the frame around it goes on working. */
export class PageBoundary extends Component<PageBoundaryProps, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true }
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error(error, info.componentStack)
  }

  override render(): ReactNode {
    return this.state.broken ? <PageFailure onRetry={reloadIfPossible} /> : this.props.children
  }
}
