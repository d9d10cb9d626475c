// Buttons, and commands or other texts with a copy button.
import { type ComponentProps, useEffect, useState } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: 'plain' | 'primary' | 'small';
}

export function Button({ kind = 'plain', ...props }: ButtonProps) {
  return <button type="button" {...props} className={`button ${kind}`} />;
}

const COPY_RESULTS = { copied: ['Copied', 'Copied'], failed: ['Failed', 'Copying failed: select the text manually'] };

interface CopyButtonProps {
  readonly text: string | (() => string);
  readonly label: string;
}

/** Copies a text and confirms it, also to screen readers. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [result, setResult] = useState<keyof typeof COPY_RESULTS | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), 2_000);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => {
    try {
      // The clipboard is available only over HTTPS or on localhost.
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setResult('copied');
    } catch {
      setResult('failed');
    }
  };
  const [shown, announced] = result === null ? ['Copy', label] : COPY_RESULTS[result];
  return (
    <Button kind="small" onClick={() => void copy()}>
      <span aria-hidden="true">{shown}</span>
      <span className="hidden-text" aria-live="polite">
        {announced}
      </span>
    </Button>
  );
}

export function Command({ text, label = 'Copy command' }: { readonly text: string; readonly label?: string }) {
  return (
    <div className="command">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
