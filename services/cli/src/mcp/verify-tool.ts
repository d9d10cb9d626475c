// The tool that verifies receipts: of a recent answer by its id, or of a complete answer.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { VerifiedAnswer } from '@strata/client';
import { shortText } from '@strata/questions';
import { z } from 'zod';
import type { AskOptions } from './ask.ts';
import { toolResult } from './tool-result.ts';

export const verifyTool = {
  name: 'stack_verify',
  title: 'Verify a receipt',
  description:
    'Verifies the receipt of an answer: content, key, signature, leaf, inclusion proof and checkpoint. Pass receipt_id of a recent answer of another tool, or answer: the exact JSON of any answer. Uses no quota. "holds" means that the service signed exactly this answer and logged it, not that the answer is true.',
  input: z
    .object({
      receipt_id: z
        .string()
        .regex(/^rwr_[0-9A-HJKMNP-TV-Z]{26}$/, 'must be rwr_ and 26 letters and digits')
        .optional(),
      answer: z
        .string()
        .min(2)
        .max(500_000)
        .describe('A complete answer with its provenance, as JSON text.')
        .optional(),
    })
    .refine(({ receipt_id, answer }) => (receipt_id === undefined) !== (answer === undefined), {
      error: 'pass either receipt_id or answer',
    }),
} as const;

export async function verifyReceipt(
  input: z.output<typeof verifyTool.input>,
  { client, recent, ledgerKey, signal }: AskOptions,
): Promise<CallToolResult> {
  const { receipt_id: id, answer } = input;
  const text = answer ?? recent.get(id ?? '');
  if (text === undefined) {
    const detail = `No recent answer has the receipt ${id}. Call the tool again, or pass the answer itself.`;
    return toolResult([`unknown_receipt: ${detail}`], [], { error: { code: 'unknown_receipt', status: 0, detail } });
  }
  const result = await client.verify(text, { signal, ledgerKey });
  const steps = result.steps.map(({ step, ok, detail }) => ({ step, ok, detail: shortText(detail, 300) }));
  const { outcome, sentence } = outcomeOf(result);
  return toolResult(
    [
      sentence,
      ...errorLine(result),
      ...steps.map(({ step, ok, detail }) => `- ${ok ? 'ok' : 'FAILED'} ${step}: ${detail}`),
    ],
    [],
    { answer: { outcome, ...(id !== undefined && { receipt_id: id }), steps } },
  );
}

/** Errors have valid receipts too. */
function errorLine({ problem }: VerifiedAnswer): string[] {
  return problem ? [`The answer is an error: ${shortText(problem.code ?? 'unknown', 80)} (${problem.status}).`] : [];
}

function outcomeOf({ ok, unchecked, failedStep }: VerifiedAnswer): {
  readonly outcome: string;
  readonly sentence: string;
} {
  if (ok) return { outcome: 'holds', sentence: 'The receipt is valid: every step passed.' };
  if (unchecked)
    return { outcome: 'not_checked', sentence: `The receipt was not verified: ${shortText(unchecked.detail, 300)}` };
  return { outcome: 'does_not_hold', sentence: `The receipt is NOT valid: step '${failedStep}' failed.` };
}
