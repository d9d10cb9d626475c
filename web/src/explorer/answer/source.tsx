// Where the numbers of a card come from: the call to copy, and the receipt with its check.
import type { StackAnswer, StackInput, StackPaths, VerifiedAnswer } from '@strata/client';
import { useState } from 'react';
import { Command } from '../../ui/command.tsx';
import { formatTime } from '../../ui/formats.ts';
import { LedgerConflict } from '../../ui/ledger-conflict.tsx';
import { stack } from './session.ts';
import { questionOf } from './use-stack.ts';

interface Signed {
  readonly provenance?: { readonly receipt_id: string; readonly signed_at: string } | undefined;
}

interface SourceProps<P extends keyof StackPaths> {
  readonly path: P;
  readonly input: StackInput<P>;
  readonly answer: StackAnswer<Signed>;
  /** Unfolded to begin with. */
  readonly isOpen?: boolean;
}

/** The foot of a card: how to ask the same, and whether the answer is what was signed. */
export function Source<P extends keyof StackPaths>({ path, input, answer, isOpen = false }: SourceProps<P>) {
  const { provenance } = answer.body;
  const asked = questionOf(answer, input);
  return (
    <details className="source" open={isOpen}>
      <summary>
        API and receipt{provenance && <span className="soft"> · signed {formatTime(provenance.signed_at)}</span>}
      </summary>
      <p className="small soft">The same answer from the command line:</p>
      <Command text={stack.curl(path, asked)} />
      {provenance && <Verify answer={answer} receiptId={provenance.receipt_id} />}
    </details>
  );
}

/** What became of a check, and of what. */
interface Check {
  readonly of: string;
  readonly result: VerifiedAnswer | 'checking' | 'not loaded';
}

interface VerifyProps {
  /** An answer, or the text of what has its receipt inside. */
  readonly answer: StackAnswer<unknown> | string;
  readonly receiptId: string;
}

/** Checks a receipt in this browser, and shows each step. */
export function Verify({ answer, receiptId }: VerifyProps) {
  const [check, setCheck] = useState<Check | null>(null);
  // What was found holds for the very text it was found for, and not for the answer that has come in its place since.
  const of = `${receiptId} ${typeof answer === 'string' ? answer : answer.text}`;
  const result = check?.of === of ? check.result : null;
  const start = async (options?: { readonly isReset: boolean }) => {
    setCheck({ of, result: 'checking' });
    // The code of the check comes when it is first wanted, and may not arrive.
    const found = await stack.verify(answer, options).catch(() => 'not loaded' as const);
    setCheck((now) => (now?.of === of ? { of, result: found } : now));
  };
  return (
    <div className="verify">
      <p className="small">
        The answer is signed, and its receipt stands in a public log. This browser can check both. Receipt{' '}
        <code>{receiptId}</code>{' '}
        <button className="button small" type="button" disabled={result === 'checking'} onClick={() => void start()}>
          Verify
        </button>
      </p>
      <div role="status">
        {result === 'checking' && 'Checking …'}
        {result === 'not loaded' && 'The check could not be loaded. Try again when the service can be reached.'}
        {typeof result === 'object' && result && (
          <Steps result={result} onReset={() => void start({ isReset: true })} />
        )}
      </div>
    </div>
  );
}

/** Each step of the check: what it asks, before what it found. In the order in which they are taken. */
const STEPS = [
  ['content', 'Content', 'What came, to the byte?'],
  ['key', 'Key', 'Has the service published the key, and was it in use then?'],
  ['signature', 'Signature', 'Was this answer signed with that key, and not altered since?'],
  ['leaf', 'Leaf', 'Is this very receipt written down in the public log?'],
  ['inclusion', 'Inclusion', 'Does a proof lead from it to the root of the log’s tree?'],
  ['checkpoint', 'Checkpoint', 'Has the log signed that root, so that it cannot be taken back?'],
  ['consistency', 'Consistency', 'Does the log still hold all that this browser saw of it before?'],
] as const satisfies readonly (readonly [VerifiedAnswer['steps'][number]['step'], string, string])[];

function Steps({ result, onReset }: { readonly result: VerifiedAnswer; readonly onReset: () => void }) {
  const taken = new Map(result.steps.map((step) => [step.step, step]));
  return (
    <>
      <ol className="steps">
        {STEPS.map(([name, title, question]) => (
          <Step key={name} title={title} question={question} taken={taken.get(name)} isOpen={isOpen(result, name)} />
        ))}
      </ol>
      {result.conflict ? <LedgerConflict conflict={result.conflict} onReset={onReset} /> : <Verdict result={result} />}
    </>
  );
}

/** The step that could not be taken for want of something has failed nobody. */
function isOpen({ unchecked, failedStep }: VerifiedAnswer, name: string): boolean {
  return unchecked !== undefined && failedStep === name;
}

interface StepProps {
  readonly title: string;
  readonly question: string;
  readonly taken: VerifiedAnswer['steps'][number] | undefined;
  readonly isOpen: boolean;
}

function Step({ title, question, taken, isOpen }: StepProps) {
  const state = taken === undefined || isOpen ? 'open' : taken.ok ? 'good' : 'bad';
  return (
    <li className={state}>
      <span aria-hidden="true">{{ open: '○', good: '✓', bad: '✗' }[state]}</span>
      <div>
        <strong>{title}</strong>
        <span className="hidden-text">{{ open: ' not checked', good: ' holds', bad: ' does not hold' }[state]}.</span>{' '}
        <span>{question}</span>
        <span className="soft small step-detail">{taken?.detail ?? 'Not reached.'}</span>
      </div>
    </li>
  );
}

function Verdict({ result: { ok, unchecked, failedStep } }: { readonly result: VerifiedAnswer }) {
  if (ok) {
    return <p className="verdict good">The receipt holds: this is what was signed, and it stands in the public log.</p>;
  }
  if (unchecked) {
    return (
      <p className="verdict">The check could not be finished, which says nothing against the answer. Try again.</p>
    );
  }
  return (
    <p className="verdict bad">
      The receipt does not hold. {failedStep === 'signature' && 'This answer is not what was signed. '}Do not rely on
      it.
    </p>
  );
}
