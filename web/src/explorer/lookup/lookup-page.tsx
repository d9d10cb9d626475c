// A list of domains and what is known about them: dropped, pasted, shown as a table, downloaded.
import './lookup.css';
import { type Job, type LookupRow, StackProblem, type TableFormat } from '@strata/client';
import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Grade } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { formatCount, formatNumber } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Problem } from '../answer/answer.tsx';
import { saveFile } from '../answer/save-file.ts';
import { tables } from '../answer/session.ts';
import { Page } from '../frame/page.tsx';
import { DomainLink } from '../links/links.tsx';
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
      <label htmlFor={`${id}text`}>Or paste names, one a line</label>
      <textarea
        id={`${id}text`}
        rows={4}
        spellCheck={false}
        placeholder={'example.com\nexample.org'}
        onInput={({ target }) => {
          setName(undefined);
          onList(listOf((target as HTMLTextAreaElement).value));
        }}
      />
      <p className="small soft">
        Names are in the column <code>domain</code>, <code>website</code>, <code>url</code>, <code>hostname</code> or{' '}
        <code>host</code>, else in the first one with a domain in the first or second row. Up to a million. Downloads
        keep your other columns, up to 99.
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
          Each of them costs {formatCount(costOf(list), 'request')} of the quota.
          {!isShort(list) &&
            ` A list of more than ${formatNumber(NAMES_AT_ONCE)} names is looked up as a job; this page waits for it.`}
        </p>
        <div role="status">
          {download.isPending && <p>{job ? `${formatCount(job.rows, 'row')} written …` : 'Looking up …'}</p>}
          {download.data && !isBusy && <p>Saved.</p>}
          {problem && <Problem problem={problem} />}
        </div>
        {table.data && (
          <DataTable
            caption="What is known about the list"
            rows={table.data}
            keyOf={(row) => `${table.data?.indexOf(row)}`}
            columns={COLUMNS}
          />
        )}
      </div>
    </Card>
  );
}

const roleColumn = (name: string, role: 'dns' | 'mailbox' | 'edge' | 'origin', isMinor = false): Column<Row> => ({
  name,
  cell: (row) => row[role]?.replaceAll(';', ', ') || '–',
  isMinor,
});

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Domain',
    cell: ({ domain = '', registrable, state }) =>
      registrable && state !== 'unknown' ? <DomainLink domain={registrable}>{domain}</DomainLink> : domain,
  },
  { name: 'State', cell: ({ state, error }) => <span title={error ?? undefined}>{state}</span> },
  { name: 'Grade', cell: ({ grade }) => (grade ? <Grade grade={grade} /> : '–') },
  roleColumn('Mailbox', 'mailbox'),
  roleColumn('DNS', 'dns', true),
  roleColumn('Edge', 'edge', true),
  roleColumn('Origin', 'origin', true),
];

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
  const job = await tables.startLookup(list, options);
  const { error, file } = await tables.ended(job, onProgress && { onProgress });
  if (error || !file)
    throw new StackProblem({
      status: 400,
      code: error?.code ?? 'unavailable',
      title: 'The job failed',
      detail: error?.detail ?? '',
    });
  const parts: BlobPart[] = [];
  for await (const chunk of (await tables.file(file)).chunks) parts.push(chunk as BlobPart);
  return new Blob(parts);
}

const baseName = ({ file = 'domains' }: GivenList): string => file.replace(/\.\w{1,8}$/, '');
