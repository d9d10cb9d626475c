// A row of links of which one is selected, such as categories or tabs. The selection is in the URL.
import type { ReactNode } from 'react';

interface ChoicesProps {
  /** The accessible name of the group. */
  readonly label: string;
  readonly children: ReactNode;
}

/** Its links mark the selected one themselves, with `choice`. */
export function Choices({ label, children }: ChoicesProps) {
  return (
    <nav className="market-choices" aria-label={label}>
      {children}
    </nav>
  );
}

/** The attributes of a link in `Choices`. */
export function choice(isChosen: boolean) {
  return { className: isChosen ? 'market-choice chosen' : 'market-choice', 'aria-current': isChosen || undefined };
}
