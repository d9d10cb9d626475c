// Whatever fails while a stranger's text is laid out: the reader has the text as it was sent, and the page stands.
import { Component, type ReactNode } from 'react';

interface TextBoundaryProps {
  /** Shown when laying it out fails; another text is another try. */
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
    // While an answer is written its text is longer each time: what failed once is not tried again and again.
    if (failed === null || (failed !== '' && !text.startsWith(failed))) return children;
    return <PlainText text={text} reason="Shown as it was sent: it cannot be laid out." />;
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
