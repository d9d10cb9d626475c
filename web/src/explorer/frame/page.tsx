// The layout of a page: title, which is also the title of the browser tab, and introduction.
import { type ReactNode, useEffect } from 'react';

interface PageProps {
  readonly title: string;
  /** The introduction below the title. */
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, lead, actions, children }: PageProps) {
  useTitle(title);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {lead && <p className="soft">{lead}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      <div className="cards">{children}</div>
    </>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Strata`;
  }, [title]);
}
