// Asks the question of a tool, and returns the answer as its result.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { StackClient } from '@strata/client';
import { ask, type Question, receiptOf } from '@strata/questions';
import type { RecentAnswers } from './recent-answers.ts';
import { lastLines, quotaOf, type ResultBody, toolResult } from './tool-result.ts';

export interface AskOptions {
  readonly client: StackClient;
  readonly recent: RecentAnswers;
  /** Verifier key of the ledger; by default the one that the service publishes. */
  readonly ledgerKey: string | undefined;
  readonly signal: AbortSignal;
}

/** Rejects with a `StackProblem`, or with the signal's reason. */
export async function askTool(
  question: Question,
  input: Readonly<Record<string, unknown>>,
  options: AskOptions,
): Promise<CallToolResult> {
  const { answer, shortened, lines, leftOut, next } = await ask(question, input, options);
  const body: ResultBody = {
    answer: shortened,
    ...next,
    ...(leftOut.length > 0 && { left_out: [...leftOut] }),
    ...receiptOf(answer.body),
    ...quotaOf(answer.quota),
  };
  if (body.receipt) options.recent.add(body.receipt.receipt_id, answer.text);
  return toolResult(lines, lastLines(body), body);
}
