// Error boundary for rendering untrusted text: falls back to plain text and keeps the page intact.
import { Component, type ReactNode } from 'react';

interface TextBoundaryProps {
  /** Shown if rendering fails; a different text is tried again. */
  readonly text: string;
  readonly children: ReactNode;
}

export class TextBoundary extends Component<TextBoundaryProps, { readonly failed: string | null }> {
  override state = { failed: null as string | null };

  override componentDidCatch(): void {
    this.setState({ failed: this.props.text });
  }

  static getDerivedStateFromError(): object {
    return { failed: '' };
  }

  override render(): ReactNode {
    const { text, children } = this.props;
    const { failed } = this.state;
    // The text of a running answer grows: a text that starts with one that failed is not tried again.
    if (failed === null || (failed !== '' && !text.startsWith(failed))) return children;
    return <PlainText text={text} reason="Shown as plain text: it cannot be rendered." />;
  }
}

export function PlainText({ text, reason }: { readonly text: string; readonly reason?: string }) {
  return (
    <>
      {reason && <p className="small soft">{reason}</p>}
      <p className="chat-plain">{text}</p>
    </>
  );
}
