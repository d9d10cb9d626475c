// A row of links of which one is chosen: categories, or the parts of a page. The choice stands in the address.
import type { ReactNode } from 'react';

interface ChoicesProps {
  /** What is chosen among. */
  readonly label: string;
  readonly children: ReactNode;
}

/** Its links say themselves which one is chosen: `activeProps` gives `aria-current`. */
export function Choices({ label, children }: ChoicesProps) {
  return (
    <nav className="market-choices" aria-label={label}>
      {children}
    </nav>
  );
}

/** What a link of `Choices` looks like, chosen or not. */
export function choice(isChosen: boolean) {
  return { className: isChosen ? 'market-choice chosen' : 'market-choice', 'aria-current': isChosen || undefined };
}
