// The receipt of an answer, and its check in this browser.
import type { VerifiedAnswer } from '@strata/client';
import { useState } from 'react';
import { Command } from '../ui/command.tsx';
import { digestOfAnswer } from './answering.ts';
import type { Answer } from './conversations.ts';
import { shortPeer } from './fleet.ts';
import { type Receipt, verifyReceipt } from './inference.ts';
import { currentKey } from './key.ts';

interface Step {
  readonly step: string;
  readonly ok: boolean;
  readonly detail: string;
}

interface Checked {
  readonly ok: boolean;
  readonly steps: readonly Step[];
  readonly message: string;
}

/** The receipt's own steps, then whether it is that of this question and this answer. */
async function check(receiptId: string, answer: Answer): Promise<Checked> {
  const result = await verifyReceipt(receiptId, currentKey());
  if (result.problem || result.unchecked) {
    const { detail } = result.unchecked ?? { detail: 'The service does not give this receipt to your key.' };
    return { ok: false, steps: [], message: `It could not be checked. ${detail}` };
  }
  const steps: readonly Step[] = result.ok ? [...result.steps, ...(await ownSteps(result, answer))] : result.steps;
  const isGood = steps.every(({ ok }) => ok);
  return {
    ok: isGood,
    steps,
    message: isGood
      ? 'The receipt holds: this is what was signed, and it stands in the public log.'
      : 'The receipt does not hold.',
  };
}

async function ownSteps({ answer: told }: VerifiedAnswer, answer: Answer): Promise<Step[]> {
  const { request_sha256, answer_sha256, outcome } = told as Receipt;
  const steps: Step[] = [];
  if (answer.requestSha256 !== null) {
    const isSame = answer.requestSha256 === request_sha256;
    steps.push({
      step: 'request',
      ok: isSame,
      detail: isSame ? 'It tells of what was sent.' : 'It tells of another request.',
    });
  }
  // Of an answer that was cut off the service may have made more than came here.
  const digest = answer.state === 'whole' && outcome === 'completed' ? await digestOfAnswer(answer) : null;
  if (digest !== null) {
    const isSame = digest === answer_sha256;
    steps.push({
      step: 'answer',
      ok: isSame,
      detail: isSame ? 'It tells of this answer.' : 'It tells of another answer.',
    });
  }
  return steps;
}

export function ReceiptView({ answer, receiptId }: { readonly answer: Answer; readonly receiptId: string }) {
  const [result, setResult] = useState<Checked | 'checking' | null>(null);
  const verify = async () => {
    setResult('checking');
    setResult(await check(receiptId, answer));
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
      <div role="status">{result === 'checking' ? 'Checking …' : result && <Steps result={result} />}</div>
      <p className="soft">The same from the command line:</p>
      <Command text={`npx strata inference verify ${receiptId} --base ${location.origin} --key YOUR_KEY`} />
    </div>
  );
}

function Steps({ result: { ok, steps, message } }: { readonly result: Checked }) {
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
      <p className={ok ? 'chat-verdict good' : 'chat-verdict bad'}>{message}</p>
    </>
  );
}
