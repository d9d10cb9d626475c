// A section of a page with a heading, and a footer for its data source.
import { type ReactNode, useId } from 'react';
import { formatNumber } from '../formats.ts';

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

interface FigureProps {
  readonly name: string;
  /** A number, or a text in another format. */
  readonly value?: number | string | null;
  readonly note?: ReactNode;
  /** The value as a link to the underlying list, or with other elements. */
  readonly children?: ReactNode;
}

/** One named value. */
export function Figure({ name, value, note, children }: FigureProps) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>
        <span className="figure-value">{children ?? (typeof value === 'string' ? value : formatNumber(value))}</span>
        {note && <span className="small soft block">{note}</span>}
      </dd>
    </div>
  );
}

export function Figures({ children }: { readonly children: ReactNode }) {
  return <dl className="figures">{children}</dl>;
}
