// The paginated advisory list with its filters.
import { Card } from '../../ui/card/card.tsx';
import { Choice } from '../../ui/choice.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { offsetOf, Pager } from '../answer/pager.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { oneOf, withChanges } from '../search/search-params.ts';
import { AdvisoryTable } from './advisory-table.tsx';
import { SEVERITIES } from './labels.ts';

const PATH = '/stack/v1/enrichment/advisories';
const PAGE = 50;
const YES_NO = ['true', 'false'] as const;

interface ListProps {
  readonly search: Readonly<Record<string, string>>;
  readonly onSearch: (search: Record<string, string>) => void;
}

export function AdvisoryList({ search, onSearch }: ListProps) {
  const severity = oneOf(search.severity, SEVERITIES);
  const exploited = oneOf(search.known_exploited, YES_NO);
  const offset = offsetOf(search.offset);
  const input = {
    query: { severity, known_exploited: exploited, limit: PAGE, offset: offset === 0 ? undefined : offset },
  };
  const query = useStack(PATH, input, { keepsLast: 'any' });
  const change = (changes: Readonly<Record<string, string | undefined>>) =>
    onSearch(withChanges(search, { offset: undefined, ...changes }));
  return (
    <Card
      title="All advisories"
      actions={
        <>
          <Choice
            label="Severity"
            value={severity}
            values={SEVERITIES}
            nameOf={formatName}
            onChange={(value) => change({ severity: value })}
          />
          <Choice
            label="Known exploited"
            value={exploited}
            values={YES_NO}
            nameOf={(value) => (value === 'true' ? 'Yes' : 'No')}
            onChange={(value) => change({ known_exploited: value })}
          />
        </>
      }
      foot={query.data && <Source path={PATH} input={input} answer={query.data} />}
    >
      <p className="small soft advisories-note">
        <strong>Affected</strong>: domains that run a version in the range. <strong>Possibly affected</strong>: other
        domains that use the product, with an unknown version. Sorted by known exploitation, then by EPSS, the
        probability of exploitation within 30 days.
      </p>
      <Answer query={query} lines={12}>
        {({ advisories, total }) =>
          advisories.length === 0 ? (
            <Empty>
              {total === 0 ? 'No advisories match these filters.' : 'This page is past the end of the list.'}
            </Empty>
          ) : (
            <>
              <p className="small soft" role="status">
                {formatNumber(total)} {total === 1 ? 'advisory' : 'advisories'}
              </p>
              <AdvisoryTable advisories={advisories} search={search} />
              <Pager search={search} offset={offset} limit={PAGE} rows={{ total }} />
            </>
          )
        }
      </Answer>
    </Card>
  );
}
