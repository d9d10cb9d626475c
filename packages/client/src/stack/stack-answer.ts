// Responses of the stack service as answers or problems, and the header of the key.
import { objectOf, textOf } from '../http/answer-text.ts';
import type { Fetched } from '../http/fetch-bounded.ts';
import { type KeySource, keyOf } from '../http/service-address.ts';
import { answeredProblem, invalidAnswer, networkProblem, type Quota, quotaOf, StackProblem } from './stack-problem.ts';

export interface StackAnswer<B> {
  /** The JSON object, or the text of CSV. */
  readonly body: B;
  /** The exact text of the response, against which the receipt is verified. */
  readonly text: string;
  /** Null where the key has no quota. */
  readonly quota: Quota | null;
  readonly url: string;
  /** Headers for a receipt outside of the body: that of CSV is in `Stack-Provenance`. */
  readonly detached?: { readonly contentType: string; readonly provenance: string };
}

/** Throws a StackProblem for a key that a header cannot contain. */
export function keyHeaders(source: KeySource): Record<string, string> {
  const { key, unusable } = keyOf(source);
  if (!unusable) return key === undefined ? {} : { 'X-Stack-Key': key };
  const detail = 'The API key contains characters that are not allowed in a key.';
  throw new StackProblem({ status: 401, code: 'invalid_key', title: 'The API key is not valid', detail });
}

/** Throws a StackProblem for anything but the expected kind of answer. */
export function answerOf(
  fetched: Fetched,
  { url, isText }: { readonly url: string; readonly isText: boolean },
): StackAnswer<unknown> {
  if (!fetched.ok) {
    if (fetched.status === undefined) throw networkProblem(`${fetched.problem}.`, { cause: fetched.cause });
    throw invalidAnswer(`${fetched.problem}.`, fetched.status);
  }
  const { content, headers, status } = fetched;
  const text = textOf(content);
  if (status >= 400) throw answeredProblem(status, headers, text ?? '');
  if (text === undefined) throw invalidAnswer(`${url} is not UTF-8 text.`, status, headers);
  const quota = quotaOf(headers);
  if (!isText) {
    const body = objectOf(text);
    if (!body) throw invalidAnswer(`${url} is not a JSON object.`, status, headers);
    return { body, text, quota, url };
  }
  const contentType = headers.get('content-type') ?? '';
  if (!/^text\/(?:csv|plain)\b/.test(contentType)) throw invalidAnswer(`${url} is not text.`, status, headers);
  const provenance = headers.get('stack-provenance');
  return { body: text, text, quota, url, ...(provenance !== null && { detached: { contentType, provenance } }) };
}
