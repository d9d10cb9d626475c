// The lost or gained customers of a provider, with date and new or previous provider.
import type { Customer } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/card/card.tsx';
import { formatCount, formatDay, formatName } from '../../ui/formats.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { CsvDownload } from '../answer/csv-download.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Choices } from '../links/choices.tsx';
import { confirmedColumns, domainColumn } from '../links/columns.tsx';
import { ProviderLink } from '../links/links.tsx';
import { emptyPage, offsetOf, Pager } from '../links/pager.tsx';
import { oneOf, type Search } from '../links/search-params.ts';

const PAGE_LENGTH = 100;

const DIRECTIONS = [
  ['out', 'Lost'],
  ['in', 'Gained'],
] as const;
const DAYS = [
  ['1', 'Today'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;

const LABELS = {
  out: {
    caption: 'Lost customers',
    end: 'New provider',
    noProvider: 'no replacement',
    verb: 'lost',
    empty: 'No domain stopped using it in this period.',
    explanation: (name: string) =>
      `Domains that stopped using ${name} completely. Domains that moved only some of their services are listed in`,
  },
  in: {
    caption: 'Gained customers',
    end: 'Previous provider',
    noProvider: 'no previous provider',
    verb: 'gained',
    empty: 'No domain started using it in this period.',
    explanation: (name: string) =>
      `Domains that started using ${name}. Existing customers that moved another service to it are listed in`,
  },
} as const;

interface CustomersProps {
  readonly provider: string;
  readonly search: Search;
}

export function Customers({ provider, search }: CustomersProps) {
  const direction = oneOf(search.direction, ['in', 'out']) ?? 'out';
  const days = DAYS.find(([each]) => each === search.days)?.[0] ?? '30';
  const filter = { direction, days: Number(days) };
  const offset = offsetOf(search.offset) || undefined;
  const input = { path: { provider }, query: { ...filter, limit: PAGE_LENGTH, offset } };
  const query = useStack('/stack/v1/providers/{provider}/customers', input, { keepsLast: 'page' });
  const labels = LABELS[direction];
  return (
    <>
      <div className="row apart">
        <Choices label="Lost or gained" choices={DIRECTIONS} chosen={direction} byDefault="out" name="direction" />
        <Choices label="Period" choices={DAYS} chosen={days} byDefault="30" name="days" />
      </div>
      <Answer query={query}>
        {({ total, provider: name, provider_id: id, since, customers, ...page }, source) => (
          <Card
            title={`${formatCount(total, 'domain')} ${labels.verb} since ${formatDay(since)}`}
            foot={
              <>
                <CsvDownload
                  key={`${direction} ${days}`}
                  path="/stack/v1/providers/{provider}/customers.csv"
                  input={{ path: { provider }, query: filter }}
                  name={`${id}-${labels.verb}`}
                >
                  The complete list in the same order, up to 1,000 rows.
                </CsvDownload>
                {source}
              </>
            }
          >
            <p className="small soft note">
              {labels.explanation(name)}{' '}
              <Link to="/migrations" search={{ provider: id, direction }}>
                all service migrations
              </Link>
              . A change is counted on the UTC day on which a second scan confirmed it.
            </p>
            <DataTable
              caption={`${labels.caption} of ${name}`}
              columns={columnsOf(labels)}
              rows={customers}
              keyOf={({ id }) => id}
              empty={emptyPage(total, labels.empty)}
            />
            <Pager offset={page.offset} limit={page.limit} rows={{ total }} />
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
  ...confirmedColumns,
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
    <ul className="stack tight">
      {moves.map((move) => (
        <li key={`${move.category} ${move.provider_id}`}>
          <ProviderLink id={move.provider_id} name={move.provider} />{' '}
          <span className="small soft">{formatName(move.category)}</span>
        </li>
      ))}
    </ul>
  );
}
