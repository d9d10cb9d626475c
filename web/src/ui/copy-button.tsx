// Copies a text, and says so to those who see and to those who listen.
import { useEffect, useState } from 'react';

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready');
  useEffect(() => {
    if (state === 'ready') return;
    const timer = setTimeout(() => setState('ready'), 2_000);
    return () => clearTimeout(timer);
  }, [state]);
  // Pages that come neither over HTTPS nor from this machine have no clipboard.
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => setState('copied'),
      () => setState('refused'),
    ) ?? setState('refused');
  return (
    <button className="button small" type="button" onClick={() => void copy()}>
      <span aria-hidden="true">{state === 'copied' ? 'Copied' : state === 'refused' ? 'Select it' : 'Copy'}</span>
      <span className="hidden-text" aria-live="polite">
        {state === 'copied' ? 'Copied' : state === 'refused' ? 'Not copied: select the text' : label}
      </span>
    </button>
  );
}
