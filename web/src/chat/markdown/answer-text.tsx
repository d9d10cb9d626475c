// The text of an answer while it streams: rendered as Markdown where that is safe, at a limited rate.
import { lazy, Suspense, useDeferredValue, useEffect, useRef, useState } from 'react';
import { plainReason } from './markdown-bounds.ts';
import { PlainText, TextBoundary } from './text-boundary.tsx';

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
