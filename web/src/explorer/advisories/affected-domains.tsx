// The domains of an advisory, in two separate lists: domains with an affected version, and domains that use the product
// with an unknown version.
import type { Affected, StackPaths } from '@strata/client';
import { Card } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { domainColumn } from '../market/columns.tsx';
import { REASONS } from './labels.ts';

type Known = StackPaths['/stack/v1/enrichment/affected']['body']['known'];

const PATH = '/stack/v1/enrichment/affected';
const LIMIT = 1_000;

const USES: readonly Column<Affected>[] = [
  domainColumn,
  textColumn('Product', ({ product }) => product),
  { name: 'Observed version', cell: ({ version }) => (version === null ? '–' : <code>{version}</code>) },
];
const VERSION: readonly Column<Affected>[] = [
  ...USES,
  {
    name: 'Affected versions',
    cell: ({ version_range: range }) => (range === null ? '–' : <code>{range}</code>),
  },
];
const PRODUCT: readonly Column<Affected>[] = [
  ...USES,
  { name: 'Reason', cell: ({ reason }) => REASONS[reason], value: ({ reason }) => reason },
];

export function AffectedDomains({ id }: { readonly id: string }) {
  const input = { query: { advisory: id, limit: LIMIT } };
  const query = useStack(PATH, input);
  return (
    <Answer query={query} lines={8}>
      {({ affected, domains, known, total }, answer) => {
        const foot = <Source path={PATH} input={input} answer={answer} />;
        // Without advisory data, an empty list does not mean that no domain is affected.
        const unknown = whyUnknown(known);
        if (unknown !== null) {
          return (
            <Card title="Affected domains" foot={foot}>
              <Empty>{unknown}</Empty>
            </Card>
          );
        }
        const cut = total > affected.length && (
          <p className="small soft">
            Showing the first {formatNumber(affected.length)} of {formatNumber(total)} rows in both lists.
          </p>
        );
        return (
          <>
            <Card title={`Affected: ${formatNumber(domains.version)}`} foot={foot}>
              <p className="small soft advisories-note">These domains run a version in the affected range.</p>
              {cut}
              <Matches
                rows={affected.filter(({ match }) => match === 'version')}
                columns={VERSION}
                caption="Domains with an affected version"
                empty="No domain with an affected version."
              />
            </Card>
            <Card title={`Possibly affected: ${formatNumber(domains.product)}`} foot={foot}>
              <p className="small soft advisories-note">
                These domains use the product, but it is unknown whether their version is affected.
              </p>
              {cut}
              <Matches
                rows={affected.filter(({ match }) => match === 'product')}
                columns={PRODUCT}
                caption="Domains with an unknown version"
                empty="No other domain uses the product."
              />
            </Card>
          </>
        );
      }}
    </Answer>
  );
}

interface MatchesProps {
  readonly rows: readonly Affected[];
  readonly columns: readonly Column<Affected>[];
  readonly caption: string;
  readonly empty: string;
}

function Matches({ rows, columns, caption, empty }: MatchesProps) {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={rows}
      keyOf={(row) => `${row.domain} ${row.product_id} ${row.version} ${row.version_range} ${row.platform}`}
    />
  );
}

function whyUnknown({ advisories, advisory }: Known): string | null {
  if (!advisories) return 'No advisory source has been synchronized completely yet.';
  return advisory === false ? 'This advisory names no product that this service detects.' : null;
}
