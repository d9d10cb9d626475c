// Where the numbers of a card come from: the call to copy, and the receipt with its check.
import type { StackAnswer, StackInput, StackPaths, VerifiedAnswer } from '@strata/client';
import { useState } from 'react';
import { Command } from '../ui/command.tsx';
import { formatTime } from '../ui/formats.ts';
import { stack } from './session.ts';

interface Signed {
  readonly provenance?: { readonly receipt_id: string; readonly signed_at: string } | undefined;
}

interface SourceProps<P extends keyof StackPaths> {
  readonly path: P;
  readonly input: StackInput<P>;
  readonly answer: StackAnswer<Signed>;
}

/** The foot of a card: how to ask the same, and whether the answer is what was signed. */
export function Source<P extends keyof StackPaths>({ path, input, answer }: SourceProps<P>) {
  const { provenance } = answer.body;
  return (
    <details className="source">
      <summary>
        API and receipt{provenance && <span className="soft"> · signed {formatTime(provenance.signed_at)}</span>}
      </summary>
      <p className="small soft">The same answer from the command line:</p>
      <Command text={stack.curl(path, input)} />
      {provenance && <Verify answer={answer} receiptId={provenance.receipt_id} />}
    </details>
  );
}

interface VerifyProps {
  /** An answer, or the text of what has its receipt inside. */
  readonly answer: StackAnswer<unknown> | string;
  readonly receiptId: string;
}

/** Checks a receipt in this browser, and shows each step. */
export function Verify({ answer, receiptId }: VerifyProps) {
  const [result, setResult] = useState<VerifiedAnswer | 'checking' | null>(null);
  const check = async () => {
    setResult('checking');
    setResult(await stack.verify(answer));
  };
  return (
    <div className="verify">
      <p className="small">
        Receipt <code>{receiptId}</code>{' '}
        <button className="button small" type="button" disabled={result === 'checking'} onClick={() => void check()}>
          Verify
        </button>
      </p>
      <div role="status">{result === 'checking' ? 'Checking …' : result && <Steps result={result} />}</div>
    </div>
  );
}

function Steps({ result }: { readonly result: VerifiedAnswer }) {
  return (
    <>
      <ol className="steps">
        {result.steps.map(({ step, ok, detail }) => (
          <li key={step} className={ok ? 'good' : 'bad'}>
            <span aria-hidden="true">{ok ? '✓' : '✗'}</span> <strong>{step}</strong>{' '}
            <span className="soft">{detail}</span>
          </li>
        ))}
      </ol>
      <p className={result.ok ? 'verdict good' : 'verdict bad'}>
        {result.ok
          ? 'The receipt holds: this is what was signed, and it stands in the public log.'
          : 'The receipt does not hold.'}
      </p>
    </>
  );
}
