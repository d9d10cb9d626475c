// Placeholders for data: loading, notice, empty.
import type { ReactNode } from 'react';

/** A skeleton of about the size of the content. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div className="loading" role="status">
      <span className="hidden-text">Loading …</span>
      {Array.from({ length: lines }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical
        <div key={i} className="skeleton line" />
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
