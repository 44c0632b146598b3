import { Component, type ReactNode } from "react";
import { ErrorNotice } from "../ui/error-notice.tsx";

interface State {
  readonly error: unknown;
  readonly failed: boolean;
}

/** Reports an error of the page, or a file that an updated server no longer has, and offers to reload. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: undefined, failed: false };

  static getDerivedStateFromError(error: unknown): State {
    return { error, failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <main className="page page-part" id="content">
        <h1 className="unseen">Fault of the page</h1>
        <ErrorNotice
          what="This page stopped. The sessions are not affected."
          error={this.state.error}
          onRetry={() => location.reload()}
        />
      </main>
    );
  }
}
