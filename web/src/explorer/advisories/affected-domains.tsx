// The domains of an advisory, in two separate lists: domains with an affected version, and domains that use the product
// with an unknown version.
import type { Affected, StackPaths } from '@strata/client';
import { Card } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { minor, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { domainColumn } from '../links/columns.tsx';
import { VersionRange } from './advisory-columns.tsx';
import { REASONS } from './labels.ts';

type Known = StackPaths['/stack/v1/enrichment/affected']['body']['known'];

const LIMIT = 1_000;

const USES: readonly Column<Affected>[] = [
  domainColumn,
  minor(textColumn('Product', 'product')),
  { name: 'Observed version', cell: ({ version }) => <VersionRange range={version} /> },
];

const LISTS = [
  {
    kind: 'version',
    title: 'Affected',
    meaning: 'These domains run a version in the affected range.',
    caption: 'Domains with an affected version',
    empty: 'No domain with an affected version.',
    columns: [
      ...USES,
      { name: 'Affected versions', cell: ({ version_range: range }: Affected) => <VersionRange range={range} /> },
    ],
  },
  {
    kind: 'product',
    title: 'Possibly affected',
    meaning: 'These domains use the product, but it is unknown whether their version is affected.',
    caption: 'Domains with an unknown version',
    empty: 'No other domain uses the product.',
    columns: [...USES, textColumn<Affected, 'reason'>('Reason', 'reason', (reason) => REASONS[reason])],
  },
] as const;

export function AffectedDomains({ id }: { readonly id: string }) {
  const query = useStack('/stack/v1/enrichment/affected', { query: { advisory: id, limit: LIMIT } });
  return (
    <Answer query={query}>
      {({ affected, domains, known, total }, source) => {
        // Without advisory data, an empty list does not mean that no domain is affected.
        const unknown = whyUnknown(known);
        if (unknown !== null) {
          return (
            <Card title="Affected domains" foot={source}>
              <Empty>{unknown}</Empty>
            </Card>
          );
        }
        return LISTS.map(({ kind, title, meaning, caption, empty, columns }) => (
          <Card key={kind} title={`${title}: ${formatNumber(domains[kind])}`} foot={source}>
            <p className="small soft note">{meaning}</p>
            {total > affected.length && (
              <p className="small soft">
                Showing the first {formatNumber(affected.length)} of {formatNumber(total)} rows in both lists.
              </p>
            )}
            <DataTable
              caption={caption}
              columns={columns}
              rows={affected.filter(({ match }) => match === kind)}
              keyOf={(row) => `${row.domain} ${row.product_id} ${row.version} ${row.version_range} ${row.platform}`}
              empty={empty}
            />
          </Card>
        ));
      }}
    </Answer>
  );
}

function whyUnknown({ advisories, advisory }: Known): string | null {
  if (!advisories) return 'No advisory source has been synchronized completely yet.';
  return advisory === false ? 'This advisory names no product that this service detects.' : null;
}
