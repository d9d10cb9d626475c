// One advisory: what it says, and which domains it concerns.
import type { Advisory } from '@strata/client';
import type { ReactNode } from 'react';
import { Badge, Severity } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatDay, formatDecimal, formatShare } from '../../ui/formats.ts';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Concerned } from './affected-domains.tsx';
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
            <Told advisory={advisory} foot={foot} />
          ) : (
            <Card title="Not among those that concern a domain here" foot={foot}>
              <Empty>No advisory of this id names a product that a domain here shows.</Empty>
            </Card>
          );
        }}
      </Answer>
      <Concerned id={id} />
    </>
  );
}

function Told({ advisory, foot }: { readonly advisory: Advisory; readonly foot: ReactNode }) {
  const { id, title, summary, severity, cvss, epss, priority, exploited, aliases, references } = advisory;
  const { tone, meaning } = PRIORITIES[priority];
  const records = [id, ...aliases].flatMap((name) => {
    const record = recordOf(name);
    return record ? [{ id: name, ...record }] : [];
  });
  return (
    <Card title={title ?? id} actions={<Badge tone={tone}>{priority}</Badge>} foot={foot}>
      <div className="advisories-told">
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
          <Figure name="Published" note={`changed ${formatDay(advisory.modified)}`}>
            {formatDay(advisory.published)}
          </Figure>
        </Figures>
        {exploited && (
          <p className="advisories-text">
            <Badge tone="bad">exploited</Badge> In CISA's catalogue since {formatDay(exploited.date_added)}
            {exploited.due_date !== null && `, to be mended by ${formatDay(exploited.due_date)}`}
            {exploited.ransomware && ', used by ransomware'}. <span className="soft">{exploited.required_action}</span>
          </p>
        )}
        <Ranges products={advisory.products} />
        <section>
          <h3>Records and references</h3>
          <ul className="advisories-references small">
            {records.map((record) => (
              <li key={record.id}>
                <OutsideLink href={record.address}>
                  {record.id} at {record.name}
                </OutsideLink>
              </li>
            ))}
            {references
              .filter((address) => !records.some((record) => record.address === address))
              .slice(0, 20)
              .map((address) => (
                <li key={address}>
                  <OutsideLink href={address}>{address}</OutsideLink>
                </li>
              ))}
          </ul>
        </section>
        {advisory.cvss_vector !== null && (
          <p className="small soft advisories-text">
            Vector <code>{advisory.cvss_vector}</code>
          </p>
        )}
      </div>
    </Card>
  );
}

const cvssNote = ({ cvss_source: source }: Advisory) =>
  source === null ? undefined : `as ${RANGE_SOURCES[source] ?? source} gives it`;
const epssNote = (percentile: number | null) =>
  percentile === null ? undefined : `above ${formatShare(percentile)} of all`;
