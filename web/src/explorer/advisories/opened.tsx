// One advisory with its affected domains.
import type { Advisory } from '@strata/client';
import type { ReactNode } from 'react';
import { Badge, Severity } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { ExternalLink } from '../../ui/external-link.tsx';
import { formatDay, formatDecimal, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { AffectedDomains } from './affected-domains.tsx';
import { PRIORITIES, RANGE_SOURCES, recordOf } from './labels.ts';
import { Ranges } from './ranges.tsx';

const PATH = '/stack/v1/enrichment/advisories';

export function OpenedAdvisory({ id }: { readonly id: string }) {
  const input = { query: { advisory: id } };
  const query = useStack(PATH, input);
  return (
    <>
      <Answer query={query} lines={8}>
        {({ advisories: [advisory] }, answer) => {
          const foot = <Source path={PATH} input={input} answer={answer} />;
          return advisory ? (
            <AdvisoryCard advisory={advisory} foot={foot} />
          ) : (
            <Card title="Advisory not listed" foot={foot}>
              <Empty>No known domain uses a product named by an advisory with this ID.</Empty>
            </Card>
          );
        }}
      </Answer>
      <AffectedDomains id={id} />
    </>
  );
}

function AdvisoryCard({ advisory, foot }: { readonly advisory: Advisory; readonly foot: ReactNode }) {
  const { id, title, summary, severity, cvss, epss, priority, exploited, aliases, references } = advisory;
  const { tone, meaning } = PRIORITIES[priority];
  const records = [id, ...aliases].flatMap((name) => {
    const record = recordOf(name);
    return record ? [{ id: name, ...record }] : [];
  });
  return (
    <Card title={title ?? id} actions={<Badge tone={tone}>{priority}</Badge>} foot={foot}>
      <div className="advisories-detail">
        {summary !== null && summary !== title && <p className="advisories-text">{summary}</p>}
        <Figures>
          <Figure name="Severity" note={cvssNote(advisory)}>
            {severity === null ? '–' : <Severity level={severity} />}
          </Figure>
          <Figure name="CVSS" note={advisory.cvss_version === null ? undefined : `version ${advisory.cvss_version}`}>
            {formatDecimal(cvss)}
          </Figure>
          <Figure name="EPSS" note={epssNote(advisory.epss_percentile)}>
            {formatShare(epss)}
          </Figure>
          <Figure name="Priority" note={meaning}>
            {priority}
          </Figure>
          <Figure name="Published" note={`modified ${formatDay(advisory.modified)}`}>
            {formatDay(advisory.published)}
          </Figure>
        </Figures>
        {exploited && (
          <p className="advisories-text">
            <Badge tone="bad">exploited</Badge> In the CISA KEV catalog since {formatDay(exploited.date_added)}
            {exploited.due_date !== null && `, remediation due ${formatDay(exploited.due_date)}`}
            {exploited.ransomware && ', used by ransomware'}. <span className="soft">{exploited.required_action}</span>
          </p>
        )}
        <Ranges products={advisory.products} />
        <section>
          <h3>Records and references</h3>
          <ul className="advisories-references small">
            {records.map((record) => (
              <li key={record.id}>
                <ExternalLink href={record.url}>
                  {record.id} at {record.name}
                </ExternalLink>
              </li>
            ))}
            {references
              .filter((url) => !records.some((record) => record.url === url))
              .slice(0, 20)
              .map((url) => (
                <li key={url}>
                  <ExternalLink href={url}>{url}</ExternalLink>
                </li>
              ))}
          </ul>
        </section>
        {advisory.cvss_vector !== null && (
          <p className="small soft advisories-text">
            CVSS vector: <code>{advisory.cvss_vector}</code>
          </p>
        )}
      </div>
    </Card>
  );
}

const cvssNote = ({ cvss_source: source }: Advisory) =>
  source === null ? undefined : `according to ${RANGE_SOURCES[source] ?? source}`;
const epssNote = (percentile: number | null) =>
  percentile === null ? undefined : `higher than ${formatShare(percentile)} of all CVEs`;
