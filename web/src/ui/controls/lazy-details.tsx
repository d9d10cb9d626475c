// Details whose content is rendered when they are first opened.
import { type ReactNode, useState } from 'react';

interface LazyDetailsProps {
  readonly summary: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

export function LazyDetails({ summary, className, children }: LazyDetailsProps) {
  const [wasOpened, setOpened] = useState(false);
  return (
    <details className={className} onToggle={() => setOpened(true)}>
      <summary>{summary}</summary>
      {wasOpened && children}
    </details>
  );
}
