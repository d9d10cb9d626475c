// What stands where data will be, or cannot be.
import type { ReactNode } from 'react';

/** Grey lines of about the size of what comes. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div className="loading" role="status">
      <span className="hidden-text">Loading …</span>
      {Array.from({ length: lines }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
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

/** Something to know in the place of data. */
export function Notice({ title, tone = 'plain', actions, children }: NoticeProps) {
  return (
    <div className={`notice ${tone}`} role={tone === 'plain' ? undefined : 'alert'}>
      <h3>{title}</h3>
      {children}
      {actions && <div className="actions">{actions}</div>}
    </div>
  );
}

/** Nothing matched, and that is the answer. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return <p className="empty">{children}</p>;
}
