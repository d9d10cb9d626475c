// Asks the service a question: maps inputs to a request, and shortens the answer.
import type { StackAnswer, StackClient, StackInput, StackPath } from '@strata/client';
import type { Question } from './question.ts';
import { type LeftOut, type Page, type Shortened, shorten } from './shorten.ts';

type Input = Readonly<Record<string, unknown>>;

export interface Asked {
  /** The complete answer of the service. */
  readonly answer: StackAnswer<unknown>;
  readonly shortened: Shortened['answer'];
  /** The summary of the shortened answer. */
  readonly lines: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** How to get the next page; empty at the end of the list. */
  readonly next: { readonly next_cursor?: string; readonly next_offset?: number };
}

/** `input` is valid for the question's schema. Rejects with a `StackProblem`, or with the signal's reason. */
export async function ask(
  question: Question,
  input: Input,
  { client, signal }: { readonly client: StackClient; readonly signal: AbortSignal },
): Promise<Asked> {
  // The input schema validates the values; a test compares it with the parameters of the route.
  const request = requestOf(question, input) as unknown as StackInput<StackPath>;
  const get = (limit?: number) => client.get(question.path as StackPath, withLimit(request, limit), { signal });
  const short = (body: unknown) =>
    shorten(body, {
      ...pageOf(question, input),
      hidden: input.details === true ? [] : (question.details ?? []),
      max: Object.fromEntries(Object.entries(question.cuts ?? {}).map(([name, list]) => [list, Number(input[name])])),
    });
  let answer = await get();
  let shortened = short(answer.body);
  // A cursor continues after the last item of a page: where the page was cut, a shorter one is requested.
  if (shortened.remaining > 0 && shortened.shown > 0 && isPagedByService(question)) {
    answer = await get(shortened.shown);
    shortened = short(answer.body);
  }
  return {
    ...{ answer, shortened: shortened.answer, lines: linesOf(question, shortened) },
    leftOut: withUnpaged(question, shortened).leftOut,
    next: next(question, input, { ...shortened, answer: answer.body }),
  };
}

function withLimit(request: StackInput<StackPath>, limit: number | undefined): StackInput<StackPath> {
  if (limit === undefined) return request;
  const { query } = request as { readonly query?: object };
  return { ...request, query: { ...query, limit } } as StackInput<StackPath>;
}

/** Path and query of the request. */
export function requestOf(question: Question, input: Input) {
  const local = new Set(['details', ...Object.keys(question.cuts ?? {})]);
  if (isPagedHere(question)) for (const name of ['limit', 'offset']) local.add(name);
  const path: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    if (question.path.includes(`{${name}}`)) path[name] = value;
    else if (!local.has(name) && value !== undefined) query[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return { path, query };
}

function isPagedHere({ list }: Question): boolean {
  return list?.paging === 'here';
}

const isPagedByService = ({ list }: Question) => list?.paging === 'service';

function pageOf(question: Question, input: Input): { readonly page?: Page } {
  const { list } = question;
  if (!list) return {};
  const { limit, offset = 0 } = input as { readonly limit: number; readonly offset?: number };
  return { page: { lists: list.at, limit, offset: list.paging === 'service' ? 0 : offset } };
}

/** How to get the next page; empty at the end of the list. */
function next(
  question: Question,
  input: Input,
  { answer, shown, remaining }: Pick<Shortened, 'shown' | 'remaining'> & { readonly answer: unknown },
): Asked['next'] {
  const { offset } = input as { readonly offset?: number };
  // A page without items has a cursor where the service has read many entries and found none that match.
  if (!question.list || (shown === 0 && (remaining > 0 || isPagedHere(question)))) return {};
  if (isPagedHere(question)) return remaining > 0 && offset !== undefined ? { next_offset: offset + shown } : {};
  // In the object that contains the list, such as `domains` of `domains.results`.
  const [at = ''] = question.list.at;
  const holder = at
    .split('.')
    .slice(0, -1)
    .reduce<unknown>((value, name) => Object(value)[name], answer);
  const { next_cursor } = Object(holder) as { readonly next_cursor?: unknown };
  return typeof next_cursor === 'string' && /^[\w-]{1,1024}$/.test(next_cursor) ? { next_cursor } : {};
}

/** Reports items that a cursor would skip as left out. */
function withUnpaged(question: Question, shortened: Shortened): Shortened {
  const { remaining, leftOut } = shortened;
  const { list } = question;
  if (!list || remaining === 0 || isPagedHere(question)) return shortened;
  return { ...shortened, leftOut: [...leftOut, { at: list.at[0] ?? '', items: remaining }] };
}

/** The JSON alone where the answer does not have the fields that this version knows. */
function linesOf(question: Question, { answer }: Shortened): readonly string[] {
  try {
    return question.summarize(answer as unknown as Parameters<Question['summarize']>[0]);
  } catch {
    return [JSON.stringify(answer)];
  }
}
