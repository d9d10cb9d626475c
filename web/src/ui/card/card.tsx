// A part of a page with its own heading, and a foot for where its numbers come from.
import { type ReactNode, useId } from 'react';

interface CardProps {
  readonly title: ReactNode;
  /** Beside the heading: filters, links. */
  readonly actions?: ReactNode;
  readonly foot?: ReactNode;
  /** How much of the page's width it takes where there is room. */
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

/** One number with its name; the link leads to the list behind it. */
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
