import { Component, type ErrorInfo, type ReactNode } from 'react'

export type ErrorBoundaryProps = {
  children: ReactNode
  /** `retry` renders the children anew. */
  fallback?: ReactNode | ((retry: () => void) => ReactNode)
  onError?: (() => void) | undefined
}

/** Keeps an error of its children from breaking the rest of the page. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true }
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error(error, info.componentStack)
    this.props.onError?.()
  }

  override render(): ReactNode {
    const { children, fallback } = this.props
    if (!this.state.failed) return children
    return typeof fallback === 'function' ? fallback(this.retry) : fallback
  }

  private readonly retry = () => this.setState({ failed: false })
}
