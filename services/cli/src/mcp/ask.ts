// Asks the service a question for a tool: inputs to a request, the answer to a result.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { StackAnswer, StackClient, StackInput, StackPath } from '@strata/client';
import type { Question } from './question.ts';
import type { KeptAnswers } from './recent-answers.ts';
import { type Page, type Shortened, shorten } from './shorten.ts';
import { lastLines, quotaOf, type ResultBody, receiptOf, toolResult } from './tool-result.ts';

type Input = Readonly<Record<string, unknown>>;

export interface AskOptions {
  readonly client: StackClient;
  readonly kept: KeptAnswers;
  /** Of the ledger that receipts are checked with; the service's own without. */
  readonly ledgerKey: string | undefined;
  readonly signal: AbortSignal;
}

/** Rejects with a `StackProblem`, or with the signal's reason. */
export async function ask(question: Question, input: Input, options: AskOptions): Promise<CallToolResult> {
  const { client, kept, signal } = options;
  // What an input may be is known by its schema, which a test compares with the route's parameters.
  const asked = requestOf(question, input) as unknown as StackInput<StackPath>;
  const answer = await client.get(question.path as StackPath, asked, { signal });
  const shortened = shorten(answer.body, {
    ...pageOf(question, input),
    hidden: input.details === true ? [] : (question.details ?? []),
    max: Object.fromEntries(Object.entries(question.cuts ?? {}).map(([name, list]) => [list, Number(input[name])])),
  });
  const body = bodyOf(answer, withUnpaged(question, shortened), nextOffset(question, input, shortened));
  if (body.receipt) kept.keep(body.receipt.receipt_id, answer.text);
  return toolResult(linesOf(question, shortened), lastLines(body), body);
}

/** Path and query of the request. */
export function requestOf(question: Question, input: Input) {
  const here = new Set(['details', ...Object.keys(question.cuts ?? {})]);
  if (isPagedHere(question)) for (const name of ['limit', 'offset']) here.add(name);
  const { limit, offset } = input as { readonly limit: number; readonly offset: number };
  // The service gives such a list from its beginning only.
  const fromStart = question.list?.paging === 'limit' ? { limit: limit + offset, offset: undefined } : {};
  const path: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  for (const [name, value] of Object.entries({ ...input, ...fromStart })) {
    if (question.path.includes(`{${name}}`)) path[name] = value;
    else if (!here.has(name) && value !== undefined) query[name] = Array.isArray(value) ? value.join(',') : value;
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

function nextOffset(question: Question, input: Input, { answer, shown, behind }: Shortened): number | undefined {
  const { offset } = input as { readonly offset?: number };
  if (!question.list || offset === undefined) return undefined;
  // Beside the list, or above it in `domains.results`.
  const [at = ''] = question.list.at;
  const holder = at
    .split('.')
    .slice(0, -1)
    .reduce<unknown>((value, name) => Object(value)[name], answer);
  const { total, has_more } = Object(holder) as { readonly total?: unknown; readonly has_more?: unknown };
  const isMoreThere =
    !isPagedHere(question) && (has_more === true || (typeof total === 'number' && total > offset + shown));
  return shown > 0 && (behind > 0 || isMoreThere) ? offset + shown : undefined;
}

/** Of a list without an offset, what did not fit is told as left out. */
function withUnpaged({ list, input }: Question, shortened: Shortened): Shortened {
  const { behind, leftOut } = shortened;
  if (!list || behind === 0 || 'offset' in input.shape) return shortened;
  return { ...shortened, leftOut: [...leftOut, { at: list.at[0] ?? '', items: behind }] };
}

function bodyOf(
  answer: StackAnswer<unknown>,
  { answer: told, leftOut }: Shortened,
  next: number | undefined,
): ResultBody {
  return {
    answer: told,
    ...(next !== undefined && { next_offset: next }),
    ...(leftOut.length > 0 && { left_out: [...leftOut] }),
    ...receiptOf(answer.body),
    ...quotaOf(answer.quota),
  };
}

/** Where a service answers something else than this version knows, the JSON is all there is. */
function linesOf(question: Question, { answer }: Shortened): readonly string[] {
  try {
    return question.tell(answer as unknown as Parameters<Question['tell']>[0]);
  } catch {
    return [JSON.stringify(answer)];
  }
}
