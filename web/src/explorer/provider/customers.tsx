// The lost or gained customers of a provider, with date and new or previous provider.
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
import { domainColumn } from '../market/columns.tsx';
import { ProviderLink } from '../market/links.tsx';
import { withChanges } from '../search/search-params.ts';

const PATH = '/stack/v1/providers/{provider}/customers';
const PAGE_LENGTH = 100;
const DAYS = [1, 7, 30, 90] as const;
const DEFAULT_DAYS = 30;

const LABELS = {
  out: {
    tab: 'Lost',
    end: 'New provider',
    noProvider: 'no replacement',
    verb: 'lost',
    empty: 'No domain stopped using it in this period.',
  },
  in: {
    tab: 'Gained',
    end: 'Previous provider',
    noProvider: 'no previous provider',
    verb: 'gained',
    empty: 'No domain started using it in this period.',
  },
} as const;

interface CustomersProps {
  readonly provider: string;
  readonly search: Readonly<Record<string, string>>;
}

export function Customers({ provider, search }: CustomersProps) {
  const direction = search.direction === 'in' ? 'in' : 'out';
  const days = DAYS.find((each) => String(each) === search.days) ?? DEFAULT_DAYS;
  const offset = offsetOf(search.offset);
  const filter = { direction, days } as const;
  const input = {
    path: { provider },
    query: { ...filter, limit: PAGE_LENGTH, offset: offset === 0 ? undefined : offset },
  };
  const query = useStack(PATH, input, { keepsLast: 'page' });
  const labels = LABELS[direction];
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
          {(['out', 'in'] as const).map((option) => (
            <Link
              key={option}
              {...to({ direction: option === 'out' ? undefined : option })}
              activeOptions={{ exact: true, includeSearch: true }}
              {...choice(option === direction)}
            >
              {LABELS[option].tab}
            </Link>
          ))}
        </Choices>
        <Choices label="Period">
          {DAYS.map((each) => (
            <Link
              key={each}
              {...to({ days: each === DEFAULT_DAYS ? undefined : String(each) })}
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
            title={`${formatNumber(total)} ${total === 1 ? 'domain' : 'domains'} ${labels.verb} since ${formatDay(since)}`}
            foot={
              <>
                <CsvDownload
                  key={`${direction} ${days}`}
                  path="/stack/v1/providers/{provider}/customers.csv"
                  input={{ path: { provider }, query: filter }}
                  name={`${answer.body.provider_id}-${direction === 'out' ? 'lost' : 'gained'}`}
                >
                  The complete list in the same order, up to 1,000 rows.
                </CsvDownload>
                <Source path={PATH} input={input} answer={answer} />
              </>
            }
          >
            <p className="small soft provider-note">
              {direction === 'out'
                ? `Domains that stopped using ${name} completely. Domains that moved only some of their services are listed in `
                : `Domains that started using ${name}. Existing customers that moved another service to it are listed in `}
              <Link to="/migrations" search={{ provider: answer.body.provider_id, direction }}>
                all service migrations
              </Link>
              . A change is counted on the UTC day on which a second scan confirmed it.
            </p>
            {customers.length === 0 ? (
              <Empty>{total === 0 ? labels.empty : 'This page is past the end of the list.'}</Empty>
            ) : (
              <DataTable
                caption={`${labels.tab} customers of ${name}`}
                columns={columnsOf(labels)}
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

const columnsOf = ({ end, noProvider }: (typeof LABELS)[keyof typeof LABELS]): readonly Column<Customer>[] => [
  domainColumn,
  {
    name: end,
    cell: (customer) => <Moves customer={customer} noProvider={noProvider} />,
    value: ({ moves }) => moves[0]?.provider ?? null,
  },
  {
    name: 'Confirmed',
    cell: ({ confirmed_at: at }) => (
      <time className="nowrap" dateTime={at}>
        {formatDay(at)}
      </time>
    ),
    value: ({ confirmed_at: at }) => at,
  },
  { name: 'Confidence', cell: ({ confidence }) => <Confidence level={confidence} /> },
];

interface MovesProps {
  readonly customer: Customer;
  readonly noProvider: string;
}

/** Without another provider, the service was added or removed, or the other provider is unknown. */
function Moves({ customer: { moves, category }, noProvider }: MovesProps) {
  if (moves.length === 0) {
    return (
      <span className="soft">
        {noProvider} ({formatName(category)})
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
