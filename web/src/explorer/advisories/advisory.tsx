// One advisory with its products, and its affected domains.
import type { Advisory, Affected, StackPaths } from '@strata/client';
import type { ReactNode } from 'react';
import { Badge, Severity } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { ExternalLink } from '../../ui/external-link.tsx';
import { formatDay, formatDecimal, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { domainColumn, productColumn } from '../links/columns.tsx';
import { VersionRange } from './advisory-columns.tsx';
import { PRIORITIES, RANGE_SOURCES, REASONS, recordOf } from './labels.ts';

export function OpenedAdvisory({ id }: { readonly id: string }) {
  const query = useStack('/stack/v1/enrichment/advisories', { query: { advisory: id } });
  return (
    <>
      <Answer query={query}>
        {({ advisories: [advisory] }, source) =>
          advisory ? (
            <AdvisoryCard advisory={advisory} source={source} />
          ) : (
            <Card title="Advisory not listed" foot={source}>
              <Empty>No known domain uses a product named by an advisory with this ID.</Empty>
            </Card>
          )
        }
      </Answer>
      <AffectedDomains id={id} />
    </>
  );
}

type Product = Advisory['products'][number];

const PRODUCT_COLUMNS: readonly Column<Product>[] = [
  productColumn,
  { name: 'Affected versions', cell: ({ version_range: range }) => <VersionRange range={range} /> },
  {
    name: 'Source',
    isMinor: true,
    cell: ({ range_source: source }) => (source === null ? '–' : RANGE_SOURCES[source]),
  },
  numberColumn('Affected', ({ domains }) => domains.version),
  minor(numberColumn('Possibly affected', ({ domains }) => domains.product)),
];

function AdvisoryCard({ advisory, source }: { readonly advisory: Advisory; readonly source: ReactNode }) {
  const { id, title, summary, severity, priority, exploited, aliases, products, references } = advisory;
  const { cvss, cvss_version, cvss_source, cvss_vector, epss, epss_percentile, published, modified } = advisory;
  const { tone, meaning } = PRIORITIES[priority];
  const records = [id, ...aliases].flatMap((name) => {
    const record = recordOf(name);
    return record ? [{ url: record.url, text: `${name} at ${record.name}` }] : [];
  });
  const rest = references.filter((url) => !records.some((record) => record.url === url)).slice(0, 20);
  return (
    <Card title={title ?? id} actions={<Badge tone={tone}>{priority}</Badge>} foot={source}>
      <div className="stack">
        {summary !== null && summary !== title && <p className="prose">{summary}</p>}
        <Figures>
          <Figure
            name="Severity"
            note={cvss_source !== null && `according to ${RANGE_SOURCES[cvss_source] ?? cvss_source}`}
          >
            <Severity level={severity} />
          </Figure>
          <Figure name="CVSS" value={formatDecimal(cvss)} note={cvss_version !== null && `version ${cvss_version}`} />
          <Figure
            name="EPSS"
            value={formatShare(epss)}
            note={epss_percentile !== null && `higher than ${formatShare(epss_percentile)} of all CVEs`}
          />
          <Figure name="Priority" value={priority} note={meaning} />
          <Figure name="Published" value={formatDay(published)} note={`modified ${formatDay(modified)}`} />
        </Figures>
        {exploited && (
          <p className="prose">
            <Badge tone="bad">exploited</Badge> In the CISA KEV catalog since {formatDay(exploited.date_added)}
            {exploited.due_date !== null && `, remediation due ${formatDay(exploited.due_date)}`}
            {exploited.ransomware && ', used by ransomware'}. <span className="soft">{exploited.required_action}</span>
          </p>
        )}
        <DataTable
          caption="Products and affected versions"
          rows={products}
          keyOf={(row) => `${row.product_id} ${row.range_source} ${row.version_range}`}
          columns={PRODUCT_COLUMNS}
        />
        <section>
          <h3>Records and references</h3>
          <ul className="stack small">
            {[...records, ...rest.map((url) => ({ url, text: url }))].map(({ url, text }) => (
              <li key={text}>
                <ExternalLink href={url}>{text}</ExternalLink>
              </li>
            ))}
          </ul>
        </section>
        {cvss_vector !== null && (
          <p className="small soft prose">
            CVSS vector: <code>{cvss_vector}</code>
          </p>
        )}
      </div>
    </Card>
  );
}

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

function AffectedDomains({ id }: { readonly id: string }) {
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
