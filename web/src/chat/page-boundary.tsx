// When the page itself fails: what was said is kept in the browser, and a reload brings it back.
import { Component, type ReactNode } from 'react';
import { Notice } from '../ui/states.tsx';

export class PageBoundary extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <main className="chat-machines">
        <Notice
          title="This page has failed"
          tone="bad"
          actions={
            <>
              <button className="button primary" type="button" onClick={() => location.reload()}>
                Load it again
              </button>
              <a href="/">To a new conversation</a>
            </>
          }
        >
          <p>What you asked and what was answered is kept in this browser.</p>
        </Notice>
      </main>
    );
  }
}
