// The source of the data in a card: the API call, and the receipt with its verification.
import type { StackAnswer, StackInput, StackPaths, VerifiedAnswer } from '@strata/client';
import { useState } from 'react';
import { Command } from '../../ui/command.tsx';
import { formatTime } from '../../ui/formats.ts';
import { LedgerConflict } from '../../ui/ledger-conflict.tsx';
import { stack } from './session.ts';
import { requestOf } from './use-stack.ts';

export interface Signed {
  readonly provenance?: { readonly receipt_id: string; readonly signed_at: string } | undefined;
}

interface SourceProps<P extends keyof StackPaths> {
  readonly path: P;
  readonly input: StackInput<P>;
  readonly answer: StackAnswer<Signed>;
  /** Initially expanded. */
  readonly isOpen?: boolean;
}

/** The footer of a card: the API call and the receipt. */
export function Source<P extends keyof StackPaths>({ path, input, answer, isOpen = false }: SourceProps<P>) {
  const { provenance } = answer.body;
  const request = requestOf(answer, input);
  return (
    <details className="source" open={isOpen}>
      <summary>
        API and receipt{provenance && <span className="soft"> · signed {formatTime(provenance.signed_at)}</span>}
      </summary>
      <p className="small soft">Get this answer from the command line:</p>
      <Command text={stack.curl(path, request)} />
      {provenance && <Verify answer={answer} receiptId={provenance.receipt_id} />}
    </details>
  );
}

/** The state of a verification and its subject. */
interface Check {
  readonly of: string;
  readonly result: VerifiedAnswer | 'checking' | 'not loaded';
}

interface VerifyProps {
  /** An answer, or a JSON text that contains its receipt. */
  readonly answer: StackAnswer<unknown> | string;
  readonly receiptId: string;
}

/** Verifies a receipt in this browser and shows each step. */
export function Verify({ answer, receiptId }: VerifyProps) {
  const [check, setCheck] = useState<Check | null>(null);
  // A result applies only to the text that was verified, not to an answer that has replaced it since.
  const of = `${receiptId} ${typeof answer === 'string' ? answer : answer.text}`;
  const result = check?.of === of ? check.result : null;
  const start = async (options?: { readonly isReset: boolean }) => {
    setCheck({ of, result: 'checking' });
    // The verification code is loaded on first use, which may fail.
    const found = await stack.verify(answer, options).catch(() => 'not loaded' as const);
    setCheck((now) => (now?.of === of ? { of, result: found } : now));
  };
  return (
    <div className="verify">
      <p className="small">
        This answer is signed, and its receipt is in a public log. Your browser can verify both. Receipt{' '}
        <code>{receiptId}</code>{' '}
        <button className="button small" type="button" disabled={result === 'checking'} onClick={() => void start()}>
          Verify
        </button>
      </p>
      <div role="status">
        {result === 'checking' && 'Verifying …'}
        {result === 'not loaded' &&
          'The verification code could not be loaded. Try again when the service can be reached.'}
        {typeof result === 'object' && result && (
          <Steps result={result} onReset={() => void start({ isReset: true })} />
        )}
      </div>
    </div>
  );
}

/** The steps of the verification in order: name, title, and what is verified. */
const STEPS = [
  ['content', 'Content', 'Is the answer complete and well-formed?'],
  ['key', 'Key', 'Is the key published and was it valid at that time?'],
  ['signature', 'Signature', 'Was the answer signed with this key and not changed since?'],
  ['leaf', 'Leaf', 'Does the leaf in the public log match this receipt?'],
  ['inclusion', 'Inclusion', 'Does a proof lead from the leaf to the root of the log’s tree?'],
  ['checkpoint', 'Checkpoint', 'Has the log signed this root?'],
  ['consistency', 'Consistency', 'Does the log still contain everything that this browser has verified before?'],
] as const satisfies readonly (readonly [VerifiedAnswer['steps'][number]['step'], string, string])[];

function Steps({ result, onReset }: { readonly result: VerifiedAnswer; readonly onReset: () => void }) {
  const results = new Map(result.steps.map((step) => [step.step, step]));
  return (
    <>
      <ol className="steps">
        {STEPS.map(([name, title, question]) => (
          <Step
            key={name}
            title={title}
            question={question}
            step={results.get(name)}
            isOpen={isUnfinished(result, name)}
          />
        ))}
      </ol>
      {result.conflict ? <LedgerConflict conflict={result.conflict} onReset={onReset} /> : <Verdict result={result} />}
    </>
  );
}

/** A step that could not be completed has not failed. */
function isUnfinished({ unchecked, failedStep }: VerifiedAnswer, name: string): boolean {
  return unchecked !== undefined && failedStep === name;
}

interface StepProps {
  readonly title: string;
  readonly question: string;
  readonly step: VerifiedAnswer['steps'][number] | undefined;
  readonly isOpen: boolean;
}

function Step({ title, question, step, isOpen }: StepProps) {
  const state = step === undefined || isOpen ? 'open' : step.ok ? 'good' : 'bad';
  return (
    <li className={state}>
      <span aria-hidden="true">{{ open: '○', good: '✓', bad: '✗' }[state]}</span>
      <div>
        <strong>{title}</strong>
        <span className="hidden-text">{{ open: ' not verified', good: ' valid', bad: ' invalid' }[state]}.</span>{' '}
        <span>{question}</span>
        <span className="soft small block">{step?.detail ?? 'Not reached.'}</span>
      </div>
    </li>
  );
}

function Verdict({ result: { ok, unchecked, failedStep } }: { readonly result: VerifiedAnswer }) {
  if (ok) {
    return (
      <p className="verdict good">
        The receipt is valid: the answer matches what was signed and is included in the public log.
      </p>
    );
  }
  if (unchecked) {
    return (
      <p className="verdict">
        The verification could not be completed. This does not mean that the answer is invalid. Try again.
      </p>
    );
  }
  return (
    <p className="verdict bad">
      The receipt is invalid. {failedStep === 'signature' && 'The answer does not match what was signed. '}Do not rely
      on it.
    </p>
  );
}
