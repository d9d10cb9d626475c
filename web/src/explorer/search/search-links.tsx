// Numbers of domains with the way to the very domains: the search, asked as the number was counted.
import type { StackInput } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { withChanges } from './search-params.ts';

type Query = NonNullable<StackInput<'/stack/v1/search'>['query']>;

interface CountProps {
  /** How many there are. */
  readonly count: number | null | undefined;
  /** Whom the search has to find for it. */
  readonly of: Partial<Record<keyof Query, string | undefined>>;
  /** What stands in the place of the number, such as a share. */
  readonly children?: string;
}

/** What nobody is counted in leads nowhere. */
export function CountLink({ count, of, children }: CountProps) {
  const text = children ?? formatNumber(count);
  if (count === null || count === undefined) return text;
  return (
    <Link to="/search" search={withChanges({}, of)} preload={false} title={children && formatNumber(count)}>
      {text}
    </Link>
  );
}

/** Users of a provider in a market, as shares count them: low confidence is shown and not counted. */
export function usersIn(category: string, provider: string | undefined, includesParked: boolean): CountProps['of'] {
  return { provider, category, min_confidence: 'medium', state: includesParked ? 'live' : 'active' };
}
