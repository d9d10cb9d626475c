// What the domains of a provider use besides it, and whether that is more than chance.
import type { StackPaths } from '@strata/client';
import { Card } from '../../ui/card/card.tsx';
import { formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { ProviderLink } from '../market/links.tsx';
import { CountLink } from '../search/search-links.tsx';
import { ADOPTION } from './adoption.tsx';

type Companion = StackPaths[typeof ADOPTION]['body']['co_adoption'][number];

const columnsOf = (own: string): readonly Column<Companion>[] => [
  {
    name: 'Provider',
    cell: ({ provider, provider_id }) => <ProviderLink id={provider_id} name={provider} />,
    value: ({ provider }) => provider,
  },
  { name: 'In words', cell: ({ lift }) => inWords(lift) },
  {
    name: 'Common',
    isNumber: true,
    cell: ({ provider_id, domains }) => <CountLink count={domains} of={{ provider: own, with: provider_id }} />,
    value: ({ domains }) => domains,
  },
  { name: 'Jaccard', isNumber: true, cell: ({ jaccard }) => formatShare(jaccard), value: ({ jaccard }) => jaccard },
  { name: 'Lift', isNumber: true, cell: ({ lift }) => lift.toFixed(2), value: ({ lift }) => lift },
];

/** Between 0.9 and 1.1 a lift says nothing. */
function inWords(lift: number): string {
  if (lift >= 2) return 'Much more often together than chance';
  if (lift > 1.1) return 'More often together than chance';
  if (lift >= 0.9) return 'About as often as chance';
  return lift > 0.5 ? 'Less often together than chance' : 'Much less often together than chance';
}

export function Company({ provider }: { readonly provider: string }) {
  const input = { path: { tool: provider } };
  const query = useStack(ADOPTION, input);
  return (
    <Card title="Used together with" foot={query.data && <Source path={ADOPTION} input={input} answer={query.data} />}>
      <Answer query={query} lines={10}>
        {({ tool, provider_id: id, domains, co_adoption }) =>
          co_adoption.length === 0 ? (
            <Empty>No other provider has 20 domains in common with it.</Empty>
          ) : (
            <>
              <DataTable
                caption={`Providers used together with ${tool}`}
                columns={columnsOf(id)}
                rows={co_adoption}
                keyOf={({ provider_id }: Companion) => provider_id}
              />
              <p className="small soft provider-note">
                Common: how many of the {formatNumber(domains)} domains of {tool} use both. Jaccard: those among all
                domains that use either. Lift: how many times as often as if the two had nothing to do with each other.
                Only providers with at least 20 common domains; brands of the same owner are left out.
              </p>
            </>
          )
        }
      </Answer>
    </Card>
  );
}
