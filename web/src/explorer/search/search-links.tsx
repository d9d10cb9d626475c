// Domain counts that link to the search with the same filter.
import type { StackInput } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { withChanges } from './search-params.ts';

type Query = NonNullable<StackInput<'/stack/v1/search'>['query']>;

interface CountProps {
  /** The number of domains. */
  readonly count: number | null | undefined;
  /** The search filter. */
  readonly of: Partial<Record<keyof Query, string | undefined>>;
  /** Shown instead of the number, such as a share. */
  readonly children?: string;
}

/** Without a link if the count is unknown. */
export function CountLink({ count, of, children }: CountProps) {
  const text = children ?? formatNumber(count);
  if (count === null || count === undefined) return text;
  return (
    <Link to="/search" search={withChanges({}, of)} preload={false} title={children && formatNumber(count)}>
      {text}
    </Link>
  );
}

/** The users of a provider in a category, as counted for shares: low confidence is excluded. */
export function usersIn(category: string, provider: string | undefined, includesParked: boolean): CountProps['of'] {
  return { provider, category, min_confidence: 'medium', state: includesParked ? 'live' : 'active' };
}
