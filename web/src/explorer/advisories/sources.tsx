// Where advisories come from, and how fresh they are.
import type { AdvisorySource } from '@strata/client';
import { Badge } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { formatAgo, formatNumber, formatTime } from '../../ui/formats.ts';
import { Answer } from '../answer.tsx';
import { Source } from '../source.tsx';
import { useStack } from '../use-stack.ts';
import { SOURCE_NAMES, STATES } from './words.ts';

const PATH = '/stack/v1/enrichment/status';

const COLUMNS: readonly Column<AdvisorySource>[] = [
  { name: 'Source', cell: ({ source }) => SOURCE_NAMES[source] ?? source },
  { name: 'State', cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].name}</Badge> },
  { name: 'Last whole sync', cell: ({ last_sync: at }) => <When at={at} /> },
  { name: 'Next', cell: ({ next_sync: at }) => <When at={at} /> },
  { name: 'Records', isNumber: true, cell: ({ records }) => formatNumber(records) },
  {
    name: 'Not understood',
    isNumber: true,
    cell: ({ skipped, skipped_example: example }) => <span title={example ?? undefined}>{formatNumber(skipped)}</span>,
  },
  { name: 'Problem', cell: ({ error }) => error ?? 'none' },
];

export function Sources() {
  const query = useStack(PATH, {});
  return (
    <Card title="Sources" foot={query.data && <Source path={PATH} input={{}} answer={query.data} />}>
      <Answer query={query} lines={8}>
        {({ sources, advisories, coverage }) => (
          <div className="advisories-told">
            <Figures>
              <Figure
                name="Vulnerabilities known"
                note={`${formatNumber(advisories.of_known_products)} of products looked for`}
              >
                {formatNumber(advisories.total)}
              </Figure>
              <Figure name="Known exploited">{formatNumber(advisories.known_exploited)}</Figure>
              <Figure name="Products in use" note={`of ${formatNumber(coverage.providers.products)} looked for`}>
                {formatNumber(coverage.providers.in_use)}
              </Figure>
              <Figure
                name="Domains with a product"
                note={`of ${formatNumber(coverage.domains.total)}; ${formatNumber(coverage.domains.with_version)} show a version`}
              >
                {formatNumber(coverage.domains.with_product)}
              </Figure>
            </Figures>
            <DataTable
              caption="Sources of advisories"
              columns={COLUMNS}
              rows={sources}
              keyOf={({ source }) => source}
            />
          </div>
        )}
      </Answer>
    </Card>
  );
}

function When({ at }: { readonly at: string | null }) {
  if (at === null) return '–';
  return (
    <time dateTime={at} title={formatTime(at)}>
      {formatAgo(at)}
    </time>
  );
}
