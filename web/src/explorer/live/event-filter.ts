// The filter of the live page: from the URL to the request.
import type { EventFilter, StackEvent } from '@strata/client';

export const EVENT_TYPES = [
  ['migration', 'Migrations'],
  ['service_change', 'Service changes'],
  ['anomaly', 'Anomalies'],
  ['advisory', 'Advisories'],
] as const satisfies readonly (readonly [StackEvent['type'], string])[];

/** The filter in the URL. The service rejects unknown types and categories. */
export function filterOf({ types, domain, provider, category }: Readonly<Record<string, string>>): EventFilter {
  return {
    types: types?.split(',').map((type) => type.trim() as StackEvent['type']),
    domain,
    provider,
    category: category as EventFilter['category'],
  };
}

/** The same filter for the list of past events. */
export function queryOf({ types, ...rest }: EventFilter) {
  return { ...rest, types: types?.join(',') };
}
