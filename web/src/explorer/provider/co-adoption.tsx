// Co-adoption: other providers that the domains of a provider use, and how strong the association is.
import type { StackPaths } from '@strata/client';
import { formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { providerColumn } from '../market/columns.tsx';
import { CountLink } from '../search/search-links.tsx';
import { ADOPTION } from './adoption.tsx';

type CoAdoptedProvider = StackPaths[typeof ADOPTION]['body']['co_adoption'][number];

const columnsOf = (own: string): readonly Column<CoAdoptedProvider>[] => [
  providerColumn,
  { name: 'Association', cell: ({ lift }) => associationOf(lift) },
  {
    name: 'Shared domains',
    isNumber: true,
    cell: ({ provider_id, domains }) => <CountLink count={domains} of={{ provider: own, with: provider_id }} />,
    value: ({ domains }) => domains,
  },
  numberColumn('Jaccard', ({ jaccard }) => jaccard, formatShare),
  { name: 'Lift', isNumber: true, cell: ({ lift }) => lift.toFixed(2), value: ({ lift }) => lift },
];

/** A lift between 0.9 and 1.1 is not significant. */
function associationOf(lift: number): string {
  if (lift >= 2) return 'Strong positive';
  if (lift > 1.1) return 'Positive';
  if (lift >= 0.9) return 'None';
  return lift > 0.5 ? 'Negative' : 'Strong negative';
}

export function CoAdoption({ provider }: { readonly provider: string }) {
  return (
    <AnswerCard title="Used together with" path={ADOPTION} input={{ path: { tool: provider } }} lines={10}>
      {({ tool, provider_id: id, domains, co_adoption }) =>
        co_adoption.length === 0 ? (
          <Empty>No other provider shares at least 20 domains with it.</Empty>
        ) : (
          <>
            <DataTable
              caption={`Providers used together with ${tool}`}
              columns={columnsOf(id)}
              rows={co_adoption}
              keyOf={({ provider_id }: CoAdoptedProvider) => provider_id}
            />
            <p className="small soft provider-note">
              Shared domains: those of the {formatNumber(domains)} domains of {tool} that use both. Jaccard: shared
              domains divided by the domains that use either. Lift: observed co-occurrence divided by that expected if
              both were independent. Providers with fewer than 20 shared domains and brands of the same owner are
              excluded.
            </p>
          </>
        )
      }
    </AnswerCard>
  );
}
