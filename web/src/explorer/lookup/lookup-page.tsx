// A list of domains and what is known about them: dropped, pasted, shown as a table, downloaded.
import './lookup.css';
import type { Job, LookupRow, StackProblem, TableFormat } from '@strata/client';
import { useMutation } from '@tanstack/react-query';
import { Fragment, useId, useMemo, useState } from 'react';
import { Grade } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { formatCount, formatNumber } from '../../ui/formats.ts';
import { saveFile } from '../../ui/save-file.ts';
import { Notice } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Problem } from '../answer/answer.tsx';
import { jobFile } from '../answer/job-file.ts';
import { tables } from '../answer/session.ts';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { DomainLink, ProviderLink } from '../links/links.tsx';
import { costOf, type GivenList, isShort, listOf, NAMES_AT_ONCE, readFile } from './name-list.ts';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson', parquet: 'application/vnd.apache.parquet' } as const;
const FIELDS = ['domain', 'registrable', 'error', 'state', 'grade', 'dns', 'mailbox', 'edge', 'origin'] as const;
type Row = Pick<LookupRow, (typeof FIELDS)[number]>;

export function Lookup() {
  const [list, setList] = useState<GivenList>();
  return (
    <Page
      title="Look up a list"
      lead="Drop a CSV or a list of domains and get it back with what is known: providers by role, posture, score. Nothing is scanned."
    >
      <Card title="Domains">
        <ListField onList={setList} />
      </Card>
      {list && list.names > 0 && <Results key={`${list.file} ${list.content.length}`} list={list} />}
    </Page>
  );
}

function ListField({ onList }: { readonly onList: (list: GivenList | undefined) => void }) {
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [name, setName] = useState<string>();
  const id = useId();
  const take = (file: File | undefined) => {
    if (!file) return;
    setName(file.name);
    setProblem(undefined);
    readFile(file).then(onList, (error: unknown) => setProblem(String((error as Error).message)));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the file field within does the same by keyboard
    <div
      className={`drop stack ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files[0]);
      }}
    >
      <label htmlFor={`${id}file`}>Drop a file here, or choose one</label>
      <input
        id={`${id}file`}
        type="file"
        accept=".csv,.txt,.ndjson,.jsonl,text/csv,text/plain"
        onChange={({ target }) => take((target as HTMLInputElement).files?.[0])}
      />
      {name !== undefined && <p className="small soft">{name}</p>}
      <label htmlFor={`${id}text`}>Or paste names, URLs or e-mail addresses, one a line</label>
      <textarea
        id={`${id}text`}
        rows={4}
        spellCheck={false}
        placeholder={'example.com\nhttps://example.org/about\ninfo@example.net'}
        onInput={({ target }) => {
          setName(undefined);
          onList(listOf((target as HTMLTextAreaElement).value));
        }}
      />
      <p className="small soft">
        Names are in the column <code>domain</code>, <code>website</code>, <code>web</code>, <code>homepage</code>,{' '}
        <code>url</code>, <code>hostname</code> or <code>host</code>, else in the first one with a domain in the first
        or second row. Up to a million. Downloads keep your other columns, up to 99.
      </p>
      {problem !== undefined && <Notice title={problem} tone="bad" />}
    </div>
  );
}

/** A table for a short list, and the file in each format. */
function Results({ list }: { readonly list: GivenList }) {
  const [job, setJob] = useState<Job>();
  const table = useMutation<readonly Row[], StackProblem>({ networkMode: 'always', mutationFn: () => rowsOf(list) });
  const download = useMutation<TableFormat, StackProblem, TableFormat>({
    networkMode: 'always',
    async mutationFn(format) {
      saveFile(
        `${baseName(list)}-enriched.${format}`,
        await fileOf(list, { format, onProgress: setJob }),
        TYPES[format],
      );
      return format;
    },
  });
  const isBusy = table.isPending || download.isPending;
  const problem = table.error ?? download.error;
  return (
    <Card title={formatCount(list.names, 'name')}>
      <div className="stack">
        <div className="actions">
          <Button kind="primary" disabled={isBusy} onClick={() => download.mutate('csv')}>
            Download CSV
          </Button>
          <Button disabled={isBusy} onClick={() => download.mutate('parquet')}>
            Download Parquet
          </Button>
          {isShort(list) && (
            <Button disabled={isBusy} onClick={() => table.mutate()}>
              Show table
            </Button>
          )}
        </div>
        <p className="small soft">
          Each download, and the table, costs {formatCount(costOf(list), 'request')} of the quota.
          {!isShort(list) &&
            ` A list of more than ${formatNumber(NAMES_AT_ONCE)} names is looked up as a job; this page waits for it.`}
        </p>
        <div role="status">
          {download.isPending && <p>{job ? `${formatCount(job.rows, 'row')} written …` : 'Looking up …'}</p>}
          {download.data && !isBusy && <p>Saved.</p>}
          {problem && <Problem problem={problem} />}
        </div>
        {table.data && <ReadFrom list={list} row={table.data[0]} />}
        {table.data && <Rows rows={table.data} />}
      </div>
    </Card>
  );
}

/** The column with the names: the only one that the answer does not return. */
function ReadFrom({ list, row = {} }: { readonly list: GivenList; readonly row: Row | undefined }) {
  const column = list.headers.find((header) => !(header in row) && !(`given_${header}` in row));
  const name = column ?? (list.headers.includes('domain') ? 'domain' : undefined);
  return name === undefined ? null : <p className="small soft">Names are read from the column “{name}”.</p>;
}

/** The rows have ids of providers; names of those in use are read with one request. */
function Rows({ rows }: { readonly rows: readonly Row[] }) {
  const { data } = useStack('/stack/v1/stats/providers', { query: { limit: 1_000 } });
  const columns = useMemo(() => {
    const names = new Map(data?.body.providers.map(({ provider_id, provider }) => [provider_id, provider]));
    return columnsWith((id) => names.get(id) ?? id);
  }, [data]);
  return (
    <DataTable
      caption="What is known about the list"
      rows={rows}
      keyOf={(row) => `${rows.indexOf(row)}`}
      columns={columns}
    />
  );
}

function columnsWith(nameOf: (id: string) => string): readonly Column<Row>[] {
  const roleColumn = (name: string, role: 'dns' | 'mailbox' | 'edge' | 'origin', isMinor = false): Column<Row> => ({
    name,
    cell: (row) => <Providers ids={row[role]?.split(';').filter(Boolean) ?? []} nameOf={nameOf} />,
    isMinor,
  });
  return [
    {
      name: 'Asked',
      cell: ({ domain = '', registrable, state }) =>
        registrable && state !== 'unknown' ? <DomainLink domain={registrable}>{domain}</DomainLink> : domain,
    },
    { name: 'State', cell: (row) => <State row={row} /> },
    { name: 'Grade', cell: ({ grade }) => (grade ? <Grade grade={grade} /> : '–') },
    roleColumn('Mailboxes', 'mailbox'),
    roleColumn('DNS', 'dns', true),
    roleColumn('CDN', 'edge', true),
    roleColumn('Hosting', 'origin', true),
  ];
}

function Providers({ ids, nameOf }: { readonly ids: readonly string[]; readonly nameOf: (id: string) => string }) {
  if (ids.length === 0) return '–';
  return ids.map((id, i) => (
    <Fragment key={id}>
      {i > 0 && ', '}
      <ProviderLink id={id} name={nameOf(id)} />
    </Fragment>
  ));
}

function State({ row: { state, error } }: { readonly row: Row }) {
  return (
    <>
      {state === 'unknown' ? 'never scanned' : state}
      {error && <div className="small soft">{error}</div>}
    </>
  );
}

/** The rows of a list of any length. */
export async function rowsOf(list: GivenList, fields: readonly (keyof Row)[] = FIELDS): Promise<readonly Row[]> {
  const file = await fileOf(list, { format: 'ndjson', fields });
  const lines = (await new Blob([file]).text()).split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
}

interface FileRequest {
  readonly format: TableFormat;
  readonly fields?: readonly (keyof Row)[];
  readonly onProgress?: (job: Job) => void;
}

async function fileOf(list: GivenList, { onProgress, ...options }: FileRequest): Promise<BlobPart> {
  if (isShort(list)) return (await tables.lookup(list, options)) as BlobPart;
  return (await jobFile(await tables.startLookup(list, options), onProgress)).content;
}

const baseName = ({ file = 'domains' }: GivenList): string => file.replace(/\.\w{1,8}$/, '');
