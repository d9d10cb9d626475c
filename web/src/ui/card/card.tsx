// A section of a page with a heading, and a footer for its data source.
import { type ReactNode, useId } from 'react';

interface CardProps {
  readonly title: ReactNode;
  /** Beside the heading: filters, links. */
  readonly actions?: ReactNode;
  readonly foot?: ReactNode;
  /** The width on wide screens. */
  readonly width?: 'half' | 'full';
  readonly children: ReactNode;
}

export function Card({ title, actions, foot, width = 'full', children }: CardProps) {
  const id = useId();
  return (
    <section className={`card ${width}`} aria-labelledby={id}>
      <header className="card-head">
        <h2 id={id}>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
      {foot && <footer className="card-foot">{foot}</footer>}
    </section>
  );
}

/** One named number; a link leads to the underlying list. */
export function Figure({
  name,
  children,
  note,
}: {
  readonly name: string;
  readonly children: ReactNode;
  readonly note?: ReactNode;
}) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>
        <span className="figure-value">{children}</span>
        {note && <span className="figure-note">{note}</span>}
      </dd>
    </div>
  );
}

export function Figures({ children }: { readonly children: ReactNode }) {
  return <dl className="figures">{children}</dl>;
}
