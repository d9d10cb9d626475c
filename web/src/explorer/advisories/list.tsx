// The list of advisories with its filters, page by page.
import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/card/card.tsx';
import { Choice } from '../../ui/choice.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
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
  const offset = /^\d{1,6}$/.test(search.offset ?? '') ? Number(search.offset) : 0;
  const input = {
    query: { severity, known_exploited: exploited, limit: PAGE, offset: offset === 0 ? undefined : offset },
  };
  const query = useStack(PATH, input, { keepsLast: 'any' });
  const change = (changes: Readonly<Record<string, string | undefined>>) =>
    onSearch(withChanges(search, { offset: undefined, ...changes }));
  return (
    <Card
      title="The most urgent first"
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
        <strong>Affected</strong>: domains that show a version within the range. <strong>Not known</strong>: further
        domains that use the product, but show no version that could tell. Known-exploited ones come first, then by
        EPSS, the probability of exploitation within 30 days.
      </p>
      <Answer query={query} lines={12}>
        {({ advisories, total }) =>
          advisories.length === 0 ? (
            <Empty>{total === 0 ? 'No advisory is like this.' : 'The list ends before this page.'}</Empty>
          ) : (
            <>
              <AdvisoryTable advisories={advisories} search={search} />
              <nav className="advisories-pages" aria-label="Pages of the list">
                <span className="small soft">
                  {formatNumber(offset + 1)} to {formatNumber(offset + advisories.length)} of {formatNumber(total)}
                </span>
                {offset > 0 && <PageLink search={search} offset={Math.max(0, offset - PAGE)} name="Previous" />}
                {offset + PAGE < total && <PageLink search={search} offset={offset + PAGE} name="Next" />}
              </nav>
            </>
          )
        }
      </Answer>
    </Card>
  );
}

interface PageLinkProps {
  readonly search: Readonly<Record<string, string>>;
  readonly offset: number;
  readonly name: string;
}

function PageLink({ search, offset, name }: PageLinkProps) {
  return (
    <Link
      className="button small"
      to="/advisories"
      search={withChanges(search, { offset: offset === 0 ? undefined : String(offset) })}
    >
      {name}
    </Link>
  );
}
