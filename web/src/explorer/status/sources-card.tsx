// The sources of advisories: state, freshness and coverage.
import './sources-card.css';
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn } from '../../ui/table/columns.ts';
import { DataTable } from '../../ui/table/data-table.tsx';
import { SOURCE_NAMES, STATES } from '../advisories/labels.ts';
import { AnswerCard } from '../answer/answer.tsx';

const STATUS = '/stack/v1/enrichment/status';
type Body = StackPaths[typeof STATUS]['body'];
type AdvisorySource = Body['sources'][number];

export function SourcesCard() {
  return (
    <AnswerCard title="Advisory sources" path={STATUS} input={{}} lines={8}>
      {(body) => (
        <>
          {body.sources.length === 0 ? <Empty>No sources are configured.</Empty> : <Sources sources={body.sources} />}
          <h3 className="part-head">Coverage</h3>
          <Coverage body={body} />
        </>
      )}
    </AnswerCard>
  );
}

function Sources({ sources }: { readonly sources: readonly AdvisorySource[] }) {
  return (
    <DataTable
      caption="State of the advisory sources"
      rows={sources}
      keyOf={({ source }) => source}
      columns={[
        {
          name: 'Source',
          cell: ({ source }) => <span className="nowrap">{SOURCE_NAMES[source] ?? source}</span>,
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
        { name: 'Last complete sync', cell: ({ last_sync }) => <When at={last_sync} fallback="never" /> },
        { name: 'Next sync', cell: ({ next_sync }) => <When at={next_sync} fallback="not scheduled" /> },
        numberColumn<AdvisorySource>('Records', ({ records }) => records),
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

function When({ at, fallback }: { readonly at: string | null; readonly fallback: string }) {
  if (at === null) return <span className="soft nowrap">{fallback}</span>;
  return <Ago className="nowrap" at={at} />;
}

function Coverage({ body: { advisories, coverage } }: { readonly body: Body }) {
  const { providers, domains } = coverage;
  return (
    <Figures>
      <Figure name="Known vulnerabilities" note={`${formatNumber(advisories.of_known_products)} in detected products`}>
        <Link to="/advisories">{formatNumber(advisories.total)}</Link>
      </Figure>
      <Figure name="Known exploited" note={`${formatNumber(advisories.scored)} have an EPSS score`}>
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
        note={`of ${formatNumber(domains.total)}; ${formatNumber(domains.with_version)} with a version`}
      >
        {formatNumber(domains.with_product)}
      </Figure>
    </Figures>
  );
}
