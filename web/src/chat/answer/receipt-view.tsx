// The receipt of an answer, and its check in this browser.
import './receipt.css';
import { answerDigest, type Conflict, digestsIn } from '@strata/client';
import { useState } from 'react';
import { Command } from '../../ui/command.tsx';
import { LedgerConflict } from '../../ui/ledger-conflict.tsx';
import type { Answer } from '../conversation/conversation.ts';
import { client, InferenceProblem, type Receipt } from '../inference.ts';
import { shortPeer } from '../machines/peer-name.ts';

interface Step {
  readonly step: string;
  readonly ok: boolean;
  readonly detail: string;
}

interface Checked {
  readonly ok: boolean;
  readonly steps: readonly Step[];
  readonly message: string;
  readonly conflict?: Conflict | undefined;
}

/** The receipt's own steps, then whether it is that of this question and this answer. */
async function check(receiptId: string, answer: Answer, isReset: boolean): Promise<Checked> {
  try {
    const { receipt, verification } = await client.verify(receiptId, { isReset });
    const { ok, unchecked, conflict } = verification;
    if (unchecked) return { ok: false, steps: [], message: `It could not be checked. ${unchecked.detail}` };
    const steps: readonly Step[] = ok
      ? [...verification.steps, ...ownSteps(receipt, receiptId, answer)]
      : verification.steps;
    const isGood = ok && steps.every((step) => step.ok);
    return {
      ok: isGood,
      steps,
      conflict,
      message: isGood
        ? 'The receipt holds: this is what was signed, and it stands in the public log.'
        : 'The receipt does not hold.',
    };
  } catch (error) {
    const reason =
      error instanceof InferenceProblem && error.status !== 404
        ? error.message
        : 'The service does not give this receipt to your key.';
    return { ok: false, steps: [], message: `It could not be checked. ${reason}` };
  }
}

function ownSteps(receipt: Receipt, receiptId: string, answer: Answer): Step[] {
  const { salt, requestSha256, state, text, finishReason } = answer;
  const digests = digestsIn(receipt, salt);
  const steps = [
    stepOf('receipt', receipt.provenance.receipt_id === receiptId, [
      'This is the receipt that was asked for.',
      'This is another receipt.',
    ]),
  ];
  if (requestSha256 !== null)
    steps.push(
      stepOf('request', requestSha256 === digests.request, [
        'It is of the very question that this browser sent.',
        'It is of another question than this browser sent.',
      ]),
    );
  // Of an answer that was cut off the service may have made more than came here.
  if (state === 'whole' && receipt.outcome === 'completed')
    steps.push(
      stepOf('answer', answerDigest(text, finishReason, salt) === digests.answer, [
        'It is of the very words above.',
        'It is of other words than those above.',
      ]),
    );
  return steps;
}

const stepOf = (step: string, ok: boolean, [good, bad]: readonly [string, string]): Step => ({
  step,
  ok,
  detail: ok ? good : bad,
});

export function ReceiptView({ answer, receiptId }: { readonly answer: Answer; readonly receiptId: string }) {
  const [result, setResult] = useState<Checked | 'checking' | null>(null);
  const verify = async (isReset = false) => {
    setResult('checking');
    setResult(await check(receiptId, answer, isReset));
  };
  return (
    <div className="chat-receipt small">
      <dl>
        <dt>Receipt</dt>
        <dd>
          <code>{receiptId}</code>
        </dd>
        {answer.segments && answer.segments.length > 0 && (
          <>
            <dt>Made by</dt>
            <dd>
              <ol>
                {answer.segments.map(({ worker, from, to }) => (
                  <li key={`${worker} ${from}`}>
                    Worker <code title={worker}>{shortPeer(worker)}</code>, tokens {from + 1} to {to}
                  </li>
                ))}
              </ol>
            </dd>
          </>
        )}
      </dl>
      <p>
        <button className="button small" type="button" disabled={result === 'checking'} onClick={() => void verify()}>
          Verify
        </button>
      </p>
      <div role="status">
        {result === 'checking' ? 'Checking …' : result && <Steps result={result} onReset={() => void verify(true)} />}
      </div>
      <p className="soft">The same from the command line:</p>
      <Command text={`npx strata inference verify ${receiptId} --base ${location.origin} --key YOUR_KEY`} />
    </div>
  );
}

interface StepsProps {
  readonly result: Checked;
  readonly onReset: () => void;
}

function Steps({ result: { ok, steps, message, conflict }, onReset }: StepsProps) {
  return (
    <>
      <ol className="chat-steps">
        {steps.map(({ step, ok, detail }) => (
          <li key={step} className={ok ? 'good' : 'bad'}>
            <span aria-hidden="true">{ok ? '✓' : '✗'}</span> <strong>{step}</strong>{' '}
            <span className="soft">{detail}</span>
          </li>
        ))}
      </ol>
      {conflict ? (
        <LedgerConflict conflict={conflict} onReset={onReset} />
      ) : (
        <p className={ok ? 'chat-verdict good' : 'chat-verdict bad'}>{message}</p>
      )}
    </>
  );
}
