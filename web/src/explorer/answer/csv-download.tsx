// Downloads a table as a CSV file. Its receipt is a separate file, since CSV cannot contain one.
import { curlOf, type StackAnswer, type StackInput, type StackPaths, type StackProblem } from '@strata/client';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button, Command } from '../../ui/controls/button.tsx';
import { formatCount } from '../../ui/formats.ts';
import { saveFile } from '../../ui/save-file.ts';
import { Problem } from './answer.tsx';
import { jobFile } from './job-file.ts';
import { setQuota, stack, tables } from './session.ts';
import { Verify } from './source.tsx';

type CsvPath = Extract<keyof StackPaths, `${string}.csv`>;

interface FileProps {
  /** Without extension: `security` becomes `security.csv` and `security.csv.receipt.json`. */
  readonly name: string;
  /** Describes the content of the file. */
  readonly children: ReactNode;
}

interface CsvDownloadProps<P extends CsvPath> extends FileProps {
  readonly path: P;
  readonly input: StackInput<P>;
}

/** Downloads the file, then offers its receipt and verification. Remount with a `key` when the input changes. */
export function CsvDownload<P extends CsvPath>({ path, input, ...file }: CsvDownloadProps<P>) {
  return <Download {...file} load={() => stack.get(path, input)} command={stack.curl(path, input)} />;
}

interface CsvExportProps extends FileProps {
  /** Of `/stack/v1/exports/{table}`. */
  readonly table: string;
  readonly filter: Readonly<Record<string, string | undefined>>;
}

/** As `CsvDownload`, with all rows of a table: the service writes the file first. */
export function CsvExport({ table, filter, ...file }: CsvExportProps) {
  const query = new URLSearchParams(Object.entries(filter).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const url = new URL(`/stack/v1/exports/${table}?${query}`, location.origin);
  return <Download {...file} load={() => exported(table, filter)} command={curlOf(url.href)} />;
}

async function exported(table: string, filter: CsvExportProps['filter']): Promise<StackAnswer<string>> {
  const { path, content, headers } = await jobFile(await tables.startExport(table, { format: 'csv' }, filter));
  const text = await content.text();
  const [contentType, provenance] = [headers.get('content-type') ?? '', headers.get('stack-provenance')];
  const detached = provenance === null ? {} : { detached: { contentType, provenance } };
  return { body: text, text, quota: null, url: new URL(path, location.origin).href, ...detached };
}

interface DownloadProps extends FileProps {
  readonly load: () => Promise<StackAnswer<string>>;
  /** The same request for a shell. */
  readonly command: string;
}

function Download({ load, command, name, children }: DownloadProps) {
  const { mutate, data, error, isPending } = useMutation<StackAnswer<string>, StackProblem>({
    networkMode: 'always',
    mutationFn: load,
    onSuccess: ({ text }) => saveFile(`${name}.csv`, text, 'text/csv'),
    onSettled: (answer, problem) => setQuota((answer ?? problem)?.quota ?? null),
  });
  return (
    <div className="csv stack">
      <p>{children}</p>
      <p>
        <Button disabled={isPending} onClick={() => mutate()}>
          Download CSV
        </Button>
      </p>
      <div role="status">
        {error && <Problem problem={error} />}
        {data && <Saved answer={data} name={name} />}
      </div>
      <details className="source">
        <summary>Download from the command line</summary>
        <p className="small soft">
          Add <code>-D headers.txt</code> to keep the receipt, which is in the header <code>Stack-Provenance</code>.
        </p>
        <Command text={command} />
      </details>
    </div>
  );
}

function Saved({ answer, name }: { readonly answer: StackAnswer<string>; readonly name: string }) {
  const rows = Math.max(0, answer.text.trimEnd().split('\n').length - 1);
  const { provenance } = answer.detached ?? {};
  return (
    <>
      <p className="small">
        Saved {formatCount(rows, 'row')} as <code>{name}.csv</code>.
        {provenance !== undefined && (
          <>
            {' '}
            <Button kind="small" onClick={() => saveFile(`${name}.csv.receipt.json`, provenance, 'application/json')}>
              Save receipt
            </Button>
          </>
        )}
      </p>
      {provenance !== undefined && <Verify answer={answer} receiptId={receiptIdOf(provenance) ?? 'unreadable'} />}
    </>
  );
}

/** The receipt id in the `Stack-Provenance` header; undefined if that is not a receipt. */
function receiptIdOf(provenance: string): string | undefined {
  try {
    const { receipt_id: id } = JSON.parse(provenance) as { readonly receipt_id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
