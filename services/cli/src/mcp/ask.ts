// Calls the service for a tool: maps inputs to a request, and the answer to a result.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { StackAnswer, StackClient, StackInput, StackPath } from '@strata/client';
import type { Question } from './question.ts';
import type { RecentAnswers } from './recent-answers.ts';
import { type Page, type Shortened, shorten } from './shorten.ts';
import { lastLines, quotaOf, type ResultBody, receiptOf, toolResult } from './tool-result.ts';

type Input = Readonly<Record<string, unknown>>;

export interface AskOptions {
  readonly client: StackClient;
  readonly recent: RecentAnswers;
  /** Verifier key of the ledger; by default the one that the service publishes. */
  readonly ledgerKey: string | undefined;
  readonly signal: AbortSignal;
}

/** Rejects with a `StackProblem`, or with the signal's reason. */
export async function ask(question: Question, input: Input, options: AskOptions): Promise<CallToolResult> {
  const { client, recent, signal } = options;
  // The input schema validates the values; a test compares it with the parameters of the route.
  const request = requestOf(question, input) as unknown as StackInput<StackPath>;
  const answer = await client.get(question.path as StackPath, request, { signal });
  const shortened = shorten(answer.body, {
    ...pageOf(question, input),
    hidden: input.details === true ? [] : (question.details ?? []),
    max: Object.fromEntries(Object.entries(question.cuts ?? {}).map(([name, list]) => [list, Number(input[name])])),
  });
  const body = bodyOf(answer, withUnpaged(question, shortened), nextOffset(question, input, shortened));
  if (body.receipt) recent.add(body.receipt.receipt_id, answer.text);
  return toolResult(linesOf(question, shortened), lastLines(body), body);
}

/** Path and query of the request. */
export function requestOf(question: Question, input: Input) {
  const local = new Set(['details', ...Object.keys(question.cuts ?? {})]);
  if (isPagedHere(question)) for (const name of ['limit', 'offset']) local.add(name);
  const { limit, offset } = input as { readonly limit: number; readonly offset: number };
  // The route has no offset for such a list.
  const fromStart = question.list?.paging === 'limit' ? { limit: limit + offset, offset: undefined } : {};
  const path: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  for (const [name, value] of Object.entries({ ...input, ...fromStart })) {
    if (question.path.includes(`{${name}}`)) path[name] = value;
    else if (!local.has(name) && value !== undefined) query[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return { path, query };
}

function isPagedHere({ list }: Question): boolean {
  return list?.paging === 'here';
}

function pageOf(question: Question, input: Input): { readonly page?: Page } {
  const { list } = question;
  if (!list) return {};
  const { limit, offset = 0 } = input as { readonly limit: number; readonly offset?: number };
  return { page: { lists: list.at, limit, offset: list.paging === 'service' ? 0 : offset } };
}

function nextOffset(question: Question, input: Input, { answer, shown, remaining }: Shortened): number | undefined {
  const { offset } = input as { readonly offset?: number };
  if (!question.list || offset === undefined) return undefined;
  // `total` and `has_more` are in the object that contains the list, such as `domains` of `domains.results`.
  const [at = ''] = question.list.at;
  const holder = at
    .split('.')
    .slice(0, -1)
    .reduce<unknown>((value, name) => Object(value)[name], answer);
  const { total, has_more } = Object(holder) as { readonly total?: unknown; readonly has_more?: unknown };
  const hasMore =
    !isPagedHere(question) && (has_more === true || (typeof total === 'number' && total > offset + shown));
  return shown > 0 && (remaining > 0 || hasMore) ? offset + shown : undefined;
}

/** Reports the remaining items of a list without an offset as left out. */
function withUnpaged({ list, input }: Question, shortened: Shortened): Shortened {
  const { remaining, leftOut } = shortened;
  if (!list || remaining === 0 || 'offset' in input.shape) return shortened;
  return { ...shortened, leftOut: [...leftOut, { at: list.at[0] ?? '', items: remaining }] };
}

function bodyOf(
  answer: StackAnswer<unknown>,
  { answer: shortened, leftOut }: Shortened,
  next: number | undefined,
): ResultBody {
  return {
    answer: shortened,
    ...(next !== undefined && { next_offset: next }),
    ...(leftOut.length > 0 && { left_out: [...leftOut] }),
    ...receiptOf(answer.body),
    ...quotaOf(answer.quota),
  };
}

/** The JSON alone where the answer does not have the fields that this version knows. */
function linesOf(question: Question, { answer }: Shortened): readonly string[] {
  try {
    return question.summarize(answer as unknown as Parameters<Question['summarize']>[0]);
  } catch {
    return [JSON.stringify(answer)];
  }
}
