// The text of an answer while it streams: rendered as Markdown where that is safe, at a limited rate.
import { Component, lazy, type ReactNode, Suspense, useDeferredValue, useEffect, useRef, useState } from 'react';
import { plainReason } from './markdown-bounds.ts';

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));

/** Rendering time grows with the text: a longer text is rendered less often while it streams. */
const CHARACTERS_PER_MS = 60;

export function AnswerText({ text, isComplete }: { readonly text: string; readonly isComplete: boolean }) {
  const throttled = useThrottled(text, isComplete ? 0 : text.length / CHARACTERS_PER_MS);
  const shown = useDeferredValue(isComplete ? text : throttled);
  const reason = plainReason(shown);
  if (reason !== null) return <PlainText text={text} reason={reason} />;
  return (
    <TextBoundary text={text}>
      <Suspense fallback={<PlainText text={text} />}>
        <Markdown text={shown} />
      </Suspense>
    </TextBoundary>
  );
}

/** The value, updated at most once per `everyMs`. */
function useThrottled(value: string, everyMs: number): string {
  const [throttled, setThrottled] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const isBehind = throttled !== value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a restart with each value would postpone it forever
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => setThrottled(latest.current), everyMs);
    return () => clearTimeout(timer);
  }, [isBehind, throttled]);
  return throttled;
}

interface TextBoundaryProps {
  /** Shown if rendering fails; a different text is tried again. */
  readonly text: string;
  readonly children: ReactNode;
}

class TextBoundary extends Component<TextBoundaryProps, { readonly failed: string | null }> {
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

function PlainText({ text, reason }: { readonly text: string; readonly reason?: string }) {
  return (
    <>
      {reason && <p className="small soft">{reason}</p>}
      <p className="chat-plain">{text}</p>
    </>
  );
}
