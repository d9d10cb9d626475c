// The result of a tool: the same schema for all tools, as JSON and as text, each with a size limit.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Quota } from '@strata/client';
import type { LeftOut, receiptOf } from '@strata/questions';
import { z } from 'zod';

const text = z.string();
// Not z.int(): its bounds would be in the schema of every tool, which agents read.
const number = z.number();

/** One short schema for all tools, which an agent reads once for each: docs/mcp.md lists the fields of the objects. */
export const ResultSchema = z.object({
  answer: z.looseObject({}).optional(),
  next_cursor: text.optional(),
  next_offset: number.optional(),
  left_out: z.array(z.looseObject({})).optional(),
  receipt: z.looseObject({}).optional(),
  quota: z.looseObject({}).optional(),
  error: z.looseObject({ code: text, detail: text }).optional(),
});

export interface ResultBody extends Omit<z.input<typeof ResultSchema>, 'left_out' | 'receipt'> {
  readonly left_out?: LeftOut[];
  readonly receipt?: ReturnType<typeof receiptOf>['receipt'] | undefined;
}

const MAX_TEXT = 8_000;

/** The lines as one text of limited length. The last lines are never cut. */
export function toolResult(lines: readonly string[], last: readonly string[], body: ResultBody): CallToolResult {
  const available = MAX_TEXT - last.join('\n').length;
  let length = 0;
  let kept = lines.findIndex((line) => {
    length += line.length + 1;
    return length > available;
  });
  if (kept === -1) kept = lines.length;
  const cut = kept < lines.length ? [`(${lines.length - kept} more lines: see the structured answer)`] : [];
  return {
    content: [{ type: 'text', text: [...lines.slice(0, kept), ...cut, ...last].filter(Boolean).join('\n') }],
    structuredContent: { ...body },
    ...(body.error && { isError: true }),
  };
}

/** The lines below every answer. */
export function lastLines({ next_cursor, next_offset, left_out, receipt, quota }: ResultBody): string[] {
  return [
    next_cursor === undefined ? '' : 'More results: call again with cursor set to next_cursor.',
    next_offset === undefined ? '' : `More results: call again with offset ${next_offset}.`,
    leftOutLine(left_out ?? []),
    receipt ? `Receipt ${receipt.receipt_id}, ledger ${receipt.ledger_receipt_id}, signed ${receipt.signed_at}.` : '',
    quota ? `Quota: ${quota.remaining} of ${quota.limit} requests left until ${quota.resets_at}.` : '',
  ];
}

/** Empty where the key has no quota. */
export function quotaOf(quota: Quota | null): Pick<ResultBody, 'quota'> {
  if (quota === null) return {};
  const { limit, remaining, resetsAt } = quota;
  return { quota: { limit, remaining, resets_at: resetsAt?.toISOString() ?? null } };
}

function leftOutLine(leftOut: readonly LeftOut[]): string {
  if (leftOut.length === 0) return '';
  return `Omitted for brevity: ${leftOut.map(({ at, items }) => `${items} of ${at}`).join(', ')}.`;
}
