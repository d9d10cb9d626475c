// The tool that checks receipts: of an answer that was given here, known by its id, or of one that is given whole.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { VerifiedAnswer } from '@strata/client';
import { z } from 'zod';
import type { AskOptions } from './ask.ts';
import { shortText } from './shorten.ts';
import { toolResult } from './tool-result.ts';

export const verifyTool = {
  name: 'stack_verify',
  title: 'Does a receipt hold?',
  description:
    'Checks the receipt of an answer: content, key, signature, leaf, inclusion proof and checkpoint. Give receipt_id of an answer that another tool gave lately, or answer: the JSON of any answer, letter by letter. Needs no quota. "holds" means that the service signed exactly this answer and logged it, not that the answer is true.',
  input: z
    .object({
      receipt_id: z
        .string()
        .regex(/^rwr_[0-9A-HJKMNP-TV-Z]{26}$/, 'is rwr_ and 26 letters and digits')
        .optional(),
      answer: z.string().min(2).max(500_000).describe('A whole answer with its provenance, as JSON text.').optional(),
    })
    .refine(({ receipt_id, answer }) => (receipt_id === undefined) !== (answer === undefined), {
      error: 'give receipt_id or answer, and not both',
    }),
} as const;

export async function verifyReceipt(
  input: z.output<typeof verifyTool.input>,
  { client, kept, ledgerKey, signal }: AskOptions,
): Promise<CallToolResult> {
  const { receipt_id: id, answer } = input;
  const text = answer ?? kept.get(id ?? '');
  if (text === undefined) {
    const detail = `No answer with the receipt ${id} was given here lately. Ask the question again, or give the answer itself.`;
    return toolResult([`unknown_receipt: ${detail}`], [], { error: { code: 'unknown_receipt', status: 0, detail } });
  }
  const result = await client.verify(text, { signal, ledgerKey });
  const steps = result.steps.map(({ step, ok, detail }) => ({ step, ok, detail: shortText(detail, 300) }));
  const { outcome, says } = judgement(result);
  return toolResult(
    [
      says,
      ...ofErrorLine(result),
      ...steps.map(({ step, ok, detail }) => `- ${ok ? 'ok' : 'FAILED'} ${step}: ${detail}`),
    ],
    [],
    { answer: { outcome, ...(id !== undefined && { receipt_id: id }), steps } },
  );
}

/** A receipt holds for a refusal as it does for an answer. */
function ofErrorLine({ problem }: VerifiedAnswer): string[] {
  return problem ? [`It is of an error: ${shortText(problem.code ?? 'unknown', 80)} (${problem.status}).`] : [];
}

function judgement({ ok, unchecked, failedStep }: VerifiedAnswer): { readonly outcome: string; readonly says: string } {
  if (ok) return { outcome: 'holds', says: 'The receipt holds: every step was checked.' };
  if (unchecked) {
    return {
      outcome: 'not_checked',
      says: `Not checked, so nothing is known: ${shortText(unchecked.detail, 300)}`,
    };
  }
  return { outcome: 'does_not_hold', says: `The receipt does NOT hold: step '${failedStep}' failed.` };
}
