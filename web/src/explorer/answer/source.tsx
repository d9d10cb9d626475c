// The source of the data in a card: the API call, and the receipt with its verification.
import { curlOf, type StackAnswer, type VerifiedAnswer } from '@strata/client';
import { useState } from 'react';
import { Button, Command } from '../../ui/controls/button.tsx';
import { formatTime } from '../../ui/formats.ts';
import { Step, Verification } from '../../ui/verification.tsx';
import { stack } from './session.ts';

export interface Signed {
  readonly provenance?: { readonly receipt_id: string; readonly signed_at: string } | undefined;
}

interface SourceProps {
  readonly answer: StackAnswer<Signed>;
  /** Initially expanded. */
  readonly isOpen?: boolean | undefined;
}

/** The footer of a card: the API call and the receipt. Answers without a receipt are public. */
export function Source({ answer, isOpen = false }: SourceProps) {
  const { provenance } = answer.body;
  return (
    <details className="source" open={isOpen}>
      <summary>
        {provenance ? 'API and receipt' : 'API'}
        {provenance && <span className="soft"> · signed {formatTime(provenance.signed_at)}</span>}
      </summary>
      <p className="small soft">Get this answer from the command line{!provenance && ' (no API key required)'}:</p>
      <Command text={curlOf(answer.url)} />
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
    <>
      <p className="small">
        This answer is signed, and its receipt is in a public log. Your browser can verify both. Receipt{' '}
        <code>{receiptId}</code>{' '}
        <Button kind="small" disabled={result === 'checking'} onClick={() => void start()}>
          Verify
        </Button>
      </p>
      <div role="status">
        {result === 'checking' && 'Verifying …'}
        {result === 'not loaded' &&
          'The verification code could not be loaded. Try again when the service can be reached.'}
        {typeof result === 'object' && result && (
          <Result result={result} onReset={() => void start({ isReset: true })} />
        )}
      </div>
    </>
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

function Result({ result, onReset }: { readonly result: VerifiedAnswer; readonly onReset: () => void }) {
  const { ok, unchecked, failedStep, conflict } = result;
  const done = new Map(result.steps.map((step) => [step.step, step]));
  return (
    <Verification
      verdict={ok ? 'good' : unchecked ? 'open' : 'bad'}
      message={verdictOf(result)}
      conflict={conflict}
      onReset={onReset}
    >
      {STEPS.map(([name, title, question]) => {
        const step = done.get(name);
        // A step that could not be completed has not failed.
        const isOpen = step === undefined || (unchecked !== undefined && failedStep === name);
        return (
          <Step
            key={name}
            state={isOpen ? 'open' : step.ok ? 'good' : 'bad'}
            title={title}
            question={question}
            detail={step?.detail ?? 'Not reached.'}
          />
        );
      })}
    </Verification>
  );
}

function verdictOf({ ok, unchecked, failedStep }: VerifiedAnswer): string {
  if (ok) return 'The receipt is valid: the answer matches what was signed and is included in the public log.';
  if (unchecked)
    return 'The verification could not be completed. This does not mean that the answer is invalid. Try again.';
  const reason = failedStep === 'signature' ? 'The answer does not match what was signed. ' : '';
  return `The receipt is invalid. ${reason}Do not rely on it.`;
}
