// The text of an answer as it comes: laid out where that is safe, and as seldom as the page can bear.
import { lazy, Suspense, useDeferredValue, useEffect, useRef, useState } from 'react';
import { plainReason } from './markdown-bounds.ts';
import { PlainText, TextBoundary } from './text-boundary.tsx';

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));

/** Laying a text out takes time that grows with it: a long one is drawn less often while it comes. */
const CHARACTERS_PER_MS = 60;

export function AnswerText({ text, isOver }: { readonly text: string; readonly isOver: boolean }) {
  const steady = useSteady(text, isOver ? 0 : text.length / CHARACTERS_PER_MS);
  const shown = useDeferredValue(isOver ? text : steady);
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

/** The value, at most once in so many milliseconds. */
function useSteady(value: string, everyMs: number): string {
  const [steady, setSteady] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const isBehind = steady !== value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: begun anew with each value, the wait would never end
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => setSteady(latest.current), everyMs);
    return () => clearTimeout(timer);
  }, [isBehind, steady]);
  return steady;
}
