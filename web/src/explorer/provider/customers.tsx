// The customers that a provider lost or won: who, when, and where they went or came from.
import type { Customer } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Confidence } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatDay, formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { CsvDownload } from '../answer/csv-download.tsx';
import { offsetOf, Pager } from '../answer/pager.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Choices, choice } from '../market/choices.tsx';
import { DomainLink, ProviderLink } from '../market/links.tsx';
import { withChanges } from '../search/search-params.ts';

const PATH = '/stack/v1/providers/{provider}/customers';
const PAGE_LENGTH = 100;
const DAYS = [1, 7, 30, 90] as const;
const USUAL_DAYS = 30;

const WORDS = {
  out: {
    tab: 'Lost',
    end: 'Where they went',
    nobody: 'nobody in its place',
    did: 'left',
    empty: 'No domain left it altogether within this time.',
  },
  in: {
    tab: 'Gained',
    end: 'Where they came from',
    nobody: 'nobody before it',
    did: 'came',
    empty: 'No domain began to use it within this time.',
  },
} as const;

interface CustomersProps {
  readonly provider: string;
  readonly search: Readonly<Record<string, string>>;
}

export function Customers({ provider, search }: CustomersProps) {
  const direction = search.direction === 'in' ? 'in' : 'out';
  const days = DAYS.find((each) => String(each) === search.days) ?? USUAL_DAYS;
  const offset = offsetOf(search.offset);
  const asked = { direction, days } as const;
  const input = {
    path: { provider },
    query: { ...asked, limit: PAGE_LENGTH, offset: offset === 0 ? undefined : offset },
  };
  const query = useStack(PATH, input, { keepsLast: 'page' });
  const words = WORDS[direction];
  const to = (changes: Readonly<Record<string, string | undefined>>) => ({
    to: '/provider/$provider' as const,
    params: { provider },
    search: withChanges(search, { offset: undefined, ...changes }),
    resetScroll: false,
    preload: false as const,
  });
  return (
    <>
      <div className="market-tools">
        <Choices label="Lost or gained">
          {(['out', 'in'] as const).map((way) => (
            <Link
              key={way}
              {...to({ direction: way === 'out' ? undefined : way })}
              activeOptions={{ exact: true, includeSearch: true }}
              {...choice(way === direction)}
            >
              {WORDS[way].tab}
            </Link>
          ))}
        </Choices>
        <Choices label="Within">
          {DAYS.map((each) => (
            <Link
              key={each}
              {...to({ days: each === USUAL_DAYS ? undefined : String(each) })}
              activeOptions={{ exact: true, includeSearch: true }}
              {...choice(each === days)}
            >
              {each === 1 ? 'Today' : `${each} days`}
            </Link>
          ))}
        </Choices>
      </div>
      <Answer query={query} lines={12}>
        {({ total, provider: name, since, customers, ...page }, answer) => (
          <Card
            title={`${formatNumber(total)} ${total === 1 ? 'domain' : 'domains'} ${words.did} since ${formatDay(since)}`}
            foot={
              <>
                <CsvDownload
                  key={`${direction} ${days}`}
                  path="/stack/v1/providers/{provider}/customers.csv"
                  input={{ path: { provider }, query: asked }}
                  name={`${answer.body.provider_id}-${direction === 'out' ? 'lost' : 'gained'}`}
                >
                  The whole list as a file, in the same order; at most 1,000 rows.
                </CsvDownload>
                <Source path={PATH} input={input} answer={answer} />
              </>
            }
          >
            <p className="small soft provider-note">
              {direction === 'out'
                ? `Domains that stopped using ${name} altogether. One that moved a service away and keeps another here is not among them: `
                : `Domains that began to use ${name} for anything. One that used it already and moved another service here is not among them: `}
              <Link to="/migrations" search={{ provider: answer.body.provider_id, direction }}>
                all services that moved
              </Link>
              . Days are UTC days, counted when a second look confirmed it.
            </p>
            {customers.length === 0 ? (
              <Empty>{total === 0 ? words.empty : 'The list ends before this page.'}</Empty>
            ) : (
              <DataTable
                caption={`${words.tab} customers of ${name}`}
                columns={columnsOf(words)}
                rows={customers}
                keyOf={({ id }: Customer) => id}
              />
            )}
            <Pager search={search} offset={page.offset} limit={page.limit} rows={{ total }} />
          </Card>
        )}
      </Answer>
    </>
  );
}

const columnsOf = ({ end, nobody }: (typeof WORDS)[keyof typeof WORDS]): readonly Column<Customer>[] => [
  { name: 'Domain', cell: ({ domain }) => <DomainLink domain={domain} />, value: ({ domain }) => domain },
  {
    name: end,
    cell: (customer) => <Moves customer={customer} nobody={nobody} />,
    value: ({ moves }) => moves[0]?.provider ?? null,
  },
  {
    name: 'Confirmed',
    cell: ({ confirmed_at: at }) => (
      <time className="provider-day" dateTime={at}>
        {formatDay(at)}
      </time>
    ),
    value: ({ confirmed_at: at }) => at,
  },
  { name: 'Confidence', cell: ({ confidence }) => <Confidence level={confidence} /> },
];

interface MovesProps {
  readonly customer: Customer;
  readonly nobody: string;
}

/** Nobody at the other end is a finding too: the service is gone or new, or nobody known had it. */
function Moves({ customer: { moves, category }, nobody }: MovesProps) {
  if (moves.length === 0) {
    return (
      <span className="soft">
        {nobody} ({formatName(category)})
      </span>
    );
  }
  return (
    <ul className="provider-moves">
      {moves.map((move) => (
        <li key={`${move.category} ${move.provider_id}`}>
          <ProviderLink id={move.provider_id} name={move.provider} />{' '}
          <span className="small soft">{formatName(move.category)}</span>
        </li>
      ))}
    </ul>
  );
}
