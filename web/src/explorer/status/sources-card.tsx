// The sources of advisories: state, freshness and coverage.
import type { AdvisorySource, StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { SOURCE_NAMES, STATES } from '../advisories/labels.ts';
import { AnswerCard } from '../answer/answer.tsx';

const STATUS = '/stack/v1/enrichment/status';

export function SourcesCard() {
  return (
    <AnswerCard title="Advisory sources" path={STATUS} input={{}}>
      {(body) => (
        <>
          {body.dump.failed_at !== null && (
            <Notice title="The dump failed" tone="bad">
              The last attempt to write the nightly dump failed <Ago at={body.dump.failed_at} />
              {body.dump.written_at !== null && (
                <>
                  {'; the last one was written '}
                  <Ago at={body.dump.written_at} />
                </>
              )}
              . The log of the scheduler says why.
            </Notice>
          )}
          <DataTable
            caption="State of the advisory sources"
            rows={body.sources}
            keyOf={({ source }) => source}
            columns={COLUMNS}
            empty="No sources are configured."
          />
          <h3 className="part-head">Coverage</h3>
          <Coverage body={body} />
        </>
      )}
    </AnswerCard>
  );
}

const COLUMNS: readonly Column<AdvisorySource>[] = [
  textColumn('Source', 'source', (source) => <span className="nowrap">{SOURCE_NAMES[source] ?? source}</span>),
  textColumn('State', 'state', (state, { error }) => (
    <>
      <Badge tone={STATES[state].tone}>{STATES[state].name}</Badge>
      {error !== null && <div className="small narrow text-bad">{error}</div>}
    </>
  )),
  { name: 'Last complete sync', cell: ({ last_sync }) => <When at={last_sync} fallback="never" /> },
  { name: 'Next sync', isMinor: true, cell: ({ next_sync }) => <When at={next_sync} fallback="not scheduled" /> },
  minor(numberColumn('Records', 'records')),
  minor(
    numberColumn('Skipped', 'skipped', (skipped, { skipped_example: example }) => (
      <span title={example ?? undefined}>{formatNumber(skipped)}</span>
    )),
  ),
];

function When({ at, fallback }: { readonly at: string | null; readonly fallback: string }) {
  return at === null ? <span className="soft nowrap">{fallback}</span> : <Ago className="nowrap" at={at} />;
}

function Coverage({ body }: { readonly body: StackPaths[typeof STATUS]['body'] }) {
  const { advisories, catalog, coverage, public_suffix_list: suffixes } = body;
  const { providers, domains } = coverage;
  return (
    <Figures>
      <Figure name="Known vulnerabilities" note={`${formatNumber(advisories.of_known_products)} in detected products`}>
        <Link to="/advisories">{formatNumber(advisories.total)}</Link>
      </Figure>
      <Figure
        name="Known exploited"
        value={advisories.known_exploited}
        note={`${formatNumber(advisories.scored)} have an EPSS score`}
      />
      <Figure
        name="Products"
        value={providers.products}
        note={`of ${formatNumber(providers.total)} providers; ${formatNumber(providers.in_use)} in use`}
      />
      <Figure
        name="Domains with a product"
        value={domains.with_product}
        note={`of ${formatNumber(domains.total)}; ${formatNumber(domains.with_version)} with a version`}
      />
      <Figure name="Catalog" value={catalog.date.slice(0, 10)} note={`${catalog.source}, version ${catalog.version}`} />
      <Figure name="Public Suffix List" value={suffixes.date} note={suffixes.source} />
    </Figures>
  );
}
