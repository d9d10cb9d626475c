// A list as a file: asked for with the reader's key, which a plain link could not send, together with its receipt.
import { type StackAnswer, type StackInput, StackProblem } from '@strata/client';
import { useState } from 'react';
import { Command } from '../../ui/command.tsx';
import { Problem } from '../answer.tsx';
import { receiptIdOf, saveFile } from '../save-file.ts';
import { setQuota, stack } from '../session.ts';
import { Verify } from '../source.tsx';

type CsvPath = '/stack/v1/migrations/export.csv' | '/stack/v1/providers/{provider}/domains.csv';

interface CsvDownloadProps<P extends CsvPath> {
  readonly path: P;
  readonly input: StackInput<P>;
  readonly fileName: string;
  /** What the file holds, where that is not the list above it. */
  readonly note?: string;
}

type State = 'ready' | 'busy' | StackProblem | StackAnswer<string>;

/** Saves the file; after that its receipt can be saved and checked. */
export function CsvDownload<P extends CsvPath>({ path, input, fileName, note }: CsvDownloadProps<P>) {
  const [state, setState] = useState<State>('ready');
  const download = async () => {
    setState('busy');
    try {
      const answer = await stack.get(path, input);
      setQuota(answer.quota);
      saveFile(fileName, answer.text, 'text/csv');
      setState(answer);
    } catch (error) {
      if (!(error instanceof StackProblem)) throw error;
      setQuota(error.quota);
      setState(error);
    }
  };
  return (
    <details className="market-csv">
      <summary>Download as CSV</summary>
      <div className="market-csv-body">
        <p className="small soft">{note ? `${note} ` : ''}At most 1,000 rows, with a header. Costs one request.</p>
        <p>
          <button className="button" type="button" disabled={state === 'busy'} onClick={() => void download()}>
            Save {fileName}
          </button>
        </p>
        <div role="status">
          {state instanceof StackProblem && <Problem problem={state} onRetry={() => void download()} />}
          {typeof state === 'object' && !(state instanceof StackProblem) && (
            <Saved answer={state} fileName={fileName} />
          )}
        </div>
        <p className="small soft">The same file from the command line:</p>
        <Command text={`${stack.curl(path, input)} -o ${fileName}`} />
      </div>
    </details>
  );
}

/** A CSV has no room for its receipt; it came in a header and is kept in a file of its own. */
function Saved({ answer, fileName }: { readonly answer: StackAnswer<string>; readonly fileName: string }) {
  const { detached } = answer;
  const receiptId = detached && receiptIdOf(detached.provenance);
  return (
    <>
      <p className="small">Saved.{receiptId ? ' Its receipt came beside it:' : ''}</p>
      {detached && receiptId && (
        <>
          <Verify answer={answer} receiptId={receiptId} />
          <button
            className="button small"
            type="button"
            onClick={() => saveFile(`${fileName}.receipt.json`, detached.provenance, 'application/json')}
          >
            Save the receipt
          </button>
        </>
      )}
    </>
  );
}
