// Where what is known of vulnerabilities comes from, how fresh it is, and how much of the rest it covers.
import './sources-card.css';
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { SOURCE_NAMES, STATES } from '../advisories/labels.ts';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';

const STATUS = '/stack/v1/enrichment/status';
type Body = StackPaths[typeof STATUS]['body'];
type AdvisorySource = Body['sources'][number];

export function SourcesCard() {
  const status = useStack(STATUS, {});
  return (
    <Card title="Advisory sources" foot={status.data && <Source path={STATUS} input={{}} answer={status.data} />}>
      <Answer query={status} lines={8}>
        {(body) => (
          <>
            {body.sources.length === 0 ? <Empty>No source is set up.</Empty> : <Sources sources={body.sources} />}
            <h3 className="sources-part">What they cover</h3>
            <Coverage body={body} />
          </>
        )}
      </Answer>
    </Card>
  );
}

function Sources({ sources }: { readonly sources: readonly AdvisorySource[] }) {
  return (
    <DataTable
      caption="Sources of advisories"
      rows={sources}
      keyOf={({ source }) => source}
      columns={[
        {
          name: 'Source',
          cell: ({ source }) => <span className="sources-when">{SOURCE_NAMES[source] ?? source}</span>,
          value: ({ source }) => source,
        },
        {
          name: 'State',
          cell: ({ state, error }) => (
            <>
              <Badge tone={STATES[state].tone}>{STATES[state].name}</Badge>
              {error !== null && <div className="small sources-error">{error}</div>}
            </>
          ),
          value: ({ state }) => state,
        },
        { name: 'Last whole sync', cell: ({ last_sync }) => <When at={last_sync} without="never" /> },
        { name: 'Next', cell: ({ next_sync }) => <When at={next_sync} without="not planned" /> },
        {
          name: 'Records',
          isNumber: true,
          cell: ({ records }) => formatNumber(records),
          value: ({ records }) => records,
        },
        {
          name: 'Skipped',
          isNumber: true,
          cell: ({ skipped, skipped_example }) => (
            <span title={skipped_example ?? undefined}>{formatNumber(skipped)}</span>
          ),
          value: ({ skipped }) => skipped,
        },
      ]}
    />
  );
}

function When({ at, without }: { readonly at: string | null; readonly without: string }) {
  if (at === null) return <span className="soft sources-when">{without}</span>;
  return <Ago className="sources-when" at={at} />;
}

function Coverage({ body: { advisories, coverage } }: { readonly body: Body }) {
  const { providers, domains } = coverage;
  return (
    <Figures>
      <Figure
        name="Vulnerabilities known"
        note={`${formatNumber(advisories.of_known_products)} of products looked for`}
      >
        <Link to="/advisories">{formatNumber(advisories.total)}</Link>
      </Figure>
      <Figure name="Known to be exploited" note={`${formatNumber(advisories.scored)} have an EPSS score`}>
        {formatNumber(advisories.known_exploited)}
      </Figure>
      <Figure
        name="Products"
        note={`of ${formatNumber(providers.total)} providers; ${formatNumber(providers.in_use)} in use`}
      >
        {formatNumber(providers.products)}
      </Figure>
      <Figure
        name="Domains with a product"
        note={`of ${formatNumber(domains.total)}; ${formatNumber(domains.with_version)} show its version`}
      >
        {formatNumber(domains.with_product)}
      </Figure>
    </Figures>
  );
}
