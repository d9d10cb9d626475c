// Placeholders for data: loading, notice, empty.
import type { ReactNode } from 'react';
import { Button } from './controls/button.tsx';

/** A skeleton instead of the content. */
export function Loading() {
  return (
    <div className="loading" role="status">
      <span className="hidden-text">Loading …</span>
      {[1, 2, 3, 4, 5, 6].map((line) => (
        <div key={line} className="skeleton line" />
      ))}
    </div>
  );
}

interface NoticeProps {
  readonly title: string;
  readonly tone?: 'plain' | 'warn' | 'bad';
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** A message instead of data. */
export function Notice({ title, tone = 'plain', actions, children }: NoticeProps) {
  return (
    <div className={`notice ${tone}`} role={tone === 'plain' ? undefined : 'alert'}>
      <h3>{title}</h3>
      {children}
      {actions && <div className="actions">{actions}</div>}
    </div>
  );
}

/** The message for an empty result. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return <p className="empty">{children}</p>;
}

export function Retry({ onRetry }: { readonly onRetry: () => void }) {
  return <Button onClick={onRetry}>Try again</Button>;
}
