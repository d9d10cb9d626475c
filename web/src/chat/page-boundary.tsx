// Error boundary of the page: conversations are stored in the browser, and a reload restores them.
import { Component, type ReactNode } from 'react';
import { Button } from '../ui/controls/button.tsx';
import { Notice } from '../ui/states.tsx';

export class PageBoundary extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <main className="chat-machines content">
        <Notice
          title="Something went wrong"
          tone="bad"
          actions={
            <>
              <Button kind="primary" onClick={() => location.reload()}>
                Reload
              </Button>
              <a href="/">Start a new conversation</a>
            </>
          }
        >
          <p>Your conversations are stored in this browser.</p>
        </Notice>
      </main>
    );
  }
}
