// The pivot page: the domains that share a value.
import type { StackPaths } from '@strata/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Day } from '../../ui/ago.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Notice } from '../../ui/states.tsx';
import { minor, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { Page } from '../frame/page.tsx';
import { Choices } from '../links/choices.tsx';
import { domainColumn } from '../links/columns.tsx';
import { SelectField, TextField } from '../links/fields.tsx';
import { CursorPager } from '../links/pager.tsx';
import { oneOf, type Search } from '../links/search-params.ts';
import { KINDS, type Kind, nameOfKind } from './record-links.tsx';
import './records.css';

const PATH = '/stack/v1/pivot/{kind}/{value}';
type User = StackPaths[typeof PATH]['body']['domains'][number];

const STATUSES = [
  ['present', 'Now'],
  ['past', 'In the past'],
] as const;
const PAGE = 100;

const COLUMNS: readonly Column<User>[] = [
  domainColumn,
  textColumn('First observed', 'first_seen', (at) => <Day at={at} />),
  minor(textColumn('Last observed', 'last_seen', (at) => <Day at={at} />)),
  minor(textColumn('Ended', 'ended_at', (at) => (at === null ? '–' : <Day at={at} />))),
];

export function Pivot() {
  const search: Search = useSearch({ from: '/pivot' });
  const { kind, value, cursor } = search;
  const status = oneOf(search.status, ['present', 'past']) ?? 'present';
  const navigate = useNavigate();
  return (
    <Page title="Shared values" lead="The domains that publish the same name server, address, tag id or other value.">
      <form
        className="fields"
        onSubmit={(event) => {
          event.preventDefault();
          const entries = new FormData(event.currentTarget);
          void navigate({
            to: '/pivot',
            search: { kind: String(entries.get('kind')), value: String(entries.get('value')) },
          });
        }}
      >
        <SelectField label="Kind" name="kind" value={kind ?? 'ns'} options={KINDS} isRequired />
        <TextField label="Value" name="value" value={value} placeholder="ns1.example.com" />
        <Button type="submit">Find domains</Button>
      </form>
      {kind && value && (
        <AnswerCard
          title={
            <>
              {nameOfKind(kind)} <span className="mono record-value">{value}</span>
            </>
          }
          path={PATH}
          // The service refuses unknown kinds.
          input={{ path: { kind: kind as Kind, value }, query: { status, limit: PAGE, cursor } }}
          keepsLast="page"
          actions={<Choices label="Time" choices={STATUSES} chosen={status} byDefault="present" name="status" />}
        >
          {({ total, total_ever, more_than_counted, shared_reason, domains, offset, next_cursor }) => (
            <>
              <Figures>
                <Figure name="Now" value={total} note={more_than_counted ? 'domains or more' : 'domains'} />
                <Figure
                  name="Ever"
                  value={total_ever ?? total}
                  note={total_ever === null ? 'domains or more' : 'domains'}
                />
              </Figures>
              {shared_reason && (
                <Notice title="This value is shared" tone="warn">
                  <p>{shared_reason}</p>
                </Notice>
              )}
              <DataTable
                caption="Domains with this value"
                rows={domains}
                keyOf={({ domain, first_seen }) => `${domain} ${first_seen}`}
                columns={COLUMNS}
                empty="No domain."
              />
              <CursorPager
                rows={{ offset, shown: domains.length, total: status === 'past' || more_than_counted ? null : total }}
                next={next_cursor}
              />
            </>
          )}
        </AnswerCard>
      )}
    </Page>
  );
}
