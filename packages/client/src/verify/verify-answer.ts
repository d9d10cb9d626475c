// Verifies an answer with only the URL of the service: fetches its key set and ledger receipt, and verifies them.
import {
  AmbiguousJsonError,
  type DetachedContent,
  failed,
  type LedgerConflict,
  ledgerPathOf,
  type Provenance,
  parseStrictJson,
  readProvenance,
  type StepResult,
  type Verification,
  type VerifyOptions,
  verifyAnswer,
  verifyDetachedAnswer,
} from '@strata/receipts';
import { type Fetched, fetchBounded } from '../http/fetch-bounded.ts';
import { type AnswerProblem, problemOf } from './answer-problem.ts';
import { followShown, type LedgerOptions, type Resource } from './check-ledger.ts';
import type { LedgerMemory } from './ledger-memory.ts';

/** The result of a verification, with the answer if it could be parsed. */
export interface VerifiedAnswer extends Verification {
  /** The JSON body, or the bytes of a detached answer. */
  readonly answer?: unknown;
  /** Set where the answer is an error, whether or not its receipt is valid. */
  readonly problem?: AnswerProblem;
  /** Set where the verification could not be completed. It says nothing about the answer. */
  readonly unchecked?: Unchecked;
  /** Set where the ledger conflicts with the known one: evidence to store and to publish. */
  readonly conflict?: Conflict;
}

/** Two conflicting checkpoints, as signed notes; `known` is undefined where a key conflicts. */
export interface Conflict {
  readonly kind: LedgerConflict;
  readonly known?: string;
  readonly shown: string;
}

/**
 * Why an answer was not verified, as a sentence: a document could not be fetched, the answer is not JSON and has no receipt in a header, or
 * it is a JSON value without a receipt.
 */
export interface Unchecked {
  readonly kind: 'not-fetched' | 'not-json' | 'no-receipt';
  readonly detail: string;
}

export interface ClientOptions extends LedgerOptions {
  /** By default the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Storage of known ledgers; without it, nothing is stored. */
  readonly memory?: LedgerMemory | undefined;
  readonly signal?: AbortSignal;
}

export interface VerifyUrlOptions extends ClientOptions {
  /** API key, sent as `X-Stack-Key`. */
  readonly key?: string;
  /** Sent only with the request for the answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface VerifyBodyOptions extends ClientOptions {
  /** The service that sent the answer, such as `https://strata.example`. */
  readonly baseUrl: string;
}

/** Content whose receipt is in the `Stack-Provenance` header. */
export interface DetachedInput {
  /** The bytes, or the SHA-256 of a large file. */
  readonly content: DetachedContent;
  /** The `Content-Type` header as sent. */
  readonly contentType: string;
  /** The `Stack-Provenance` header as sent. */
  readonly provenance: string;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** A tile has 8 KiB, and a checkpoint with many cosignatures is shorter than this. */
const MAX_RESOURCE_BYTES = 64 * 1024;

/**
 * Fetches an answer and verifies its receipt, in the body or in a header. A document that cannot be fetched or parsed fails the step that
 * needs it. Rejects only when the signal aborts, or with an error of the memory.
 */
export async function verifyUrl(url: string, options: VerifyUrlOptions = {}): Promise<VerifiedAnswer> {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (!target || !/^https?:$/.test(target.protocol)) return unchecked('not-fetched', `${url} is not a web address.`);
  const headers = { ...options.headers, ...(options.key === undefined ? {} : { 'X-Stack-Key': options.key }) };
  const fetched = await fetchFor(target, { ...options, maxBytes: MAX_ANSWER_BYTES, headers });
  if (!fetched.ok) return unchecked('not-fetched', `${fetched.problem}.`);
  const against = { ...options, baseUrl: target.origin };
  const provenance = fetched.headers.get('stack-provenance');
  const contentType = fetched.headers.get('content-type') ?? '';
  const result =
    provenance === null
      ? await verifyBody(fetched.content, against)
      : await verifyDetached({ content: fetched.content, contentType, provenance }, against);
  const problem = problemOf(result.answer, fetched.status);
  return problem ? { ...result, problem } : result;
}

/** Verifies a saved JSON answer: its text, its bytes, or the parsed value. */
export async function verifyBody(body: unknown, options: VerifyBodyOptions): Promise<VerifiedAnswer> {
  let value = body;
  try {
    if (body instanceof Uint8Array) value = parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    else if (typeof body === 'string') value = parseStrictJson(body);
  } catch (error) {
    const reason = error instanceof AmbiguousJsonError ? error.message : 'not UTF-8 text';
    const detail = `The answer cannot be read: ${reason}.`;
    const isJson = error instanceof AmbiguousJsonError && !(error.cause instanceof SyntaxError);
    return isJson ? failed([], 'content', detail) : unchecked('not-json', detail);
  }
  const claimed = typeof value === 'object' && value !== null && 'provenance' in value ? value.provenance : undefined;
  const result = await verifyWith(claimed, options, (documents) => verifyAnswer(value, documents));
  const problem = problemOf(value);
  return { ...result, answer: value, ...(problem && { problem }) };
}

/** Verifies content such as CSV with its response headers. */
export async function verifyDetached(input: DetachedInput, options: VerifyBodyOptions): Promise<VerifiedAnswer> {
  const { content, contentType } = input;
  let provenance: unknown;
  try {
    provenance = parseStrictJson(input.provenance);
  } catch {
    return unchecked('no-receipt', 'The Stack-Provenance header is not JSON.');
  }
  const check = (documents: VerifyOptions) => verifyDetachedAnswer({ content, contentType, provenance }, documents);
  return {
    ...(await verifyWith(provenance, options, check)),
    answer: 'sha256' in content ? new Uint8Array() : content,
  };
}

function unchecked(kind: Unchecked['kind'], detail: string): VerifiedAnswer {
  return { ...failed([], 'content', detail), unchecked: { kind, detail } };
}

/** Fetches the two documents that a receipt refers to. A missing document fails the step that needs it. */
async function verifyWith(
  claimed: unknown,
  options: VerifyBodyOptions,
  verify: (documents: VerifyOptions) => Promise<Verification>,
): Promise<VerifiedAnswer> {
  const provenance = readProvenance(claimed);
  if (!provenance) return unchecked('no-receipt', 'The answer has no complete provenance.');
  const base = URL.canParse(options.baseUrl) ? new URL(options.baseUrl) : undefined;
  if (!base) return failed([], 'key', `${options.baseUrl} is not a web address.`);
  const keySet = await fetchDocument(keySetUrl(provenance, base), options);
  const ledgerReceipt = keySet.ok ? await fetchDocument(ledgerUrl(provenance, keySet.value, base), options) : keySet;
  const result = await verify({
    keySet: keySet.ok ? keySet.value : undefined,
    ledgerReceipt: ledgerReceipt.ok ? ledgerReceipt.value : undefined,
    ledgerKey: options.ledgerKey,
    witnesses: options.witnesses,
  });
  if (result.failedStep === 'key' && !keySet.ok) return blame(result, keySet);
  if (result.failedStep === 'leaf' && !ledgerReceipt.ok) return blame(result, ledgerReceipt);
  if (!result.ok || !keySet.ok || !ledgerReceipt.ok) return result;
  return follow(result, { base, keySet: keySet.value, ledgerReceipt: ledgerReceipt.value, options });
}

interface HeldAnswer {
  readonly base: URL;
  readonly keySet: unknown;
  readonly ledgerReceipt: unknown;
  readonly options: ClientOptions;
}

/** The last step, for a valid receipt: its ledger is consistent with the known one. */
async function follow(
  result: Verification,
  { base, keySet, ledgerReceipt, options }: HeldAnswer,
): Promise<VerifiedAnswer> {
  if (!options.memory && options.ledgerCheckpoint === undefined) return result;
  const { checkpoint } = ledgerReceipt as { readonly checkpoint: string };
  const resource = (path: string) => fetchResource(new URL(ledgerPathOf(keySet) + path, base), options);
  const followed = await followShown({ service: base.origin, keySet, checkpoint }, { ...options, resource });
  if (followed.kind === 'not-fetched') {
    const detail = sentence(followed.problem);
    return { ...failed(result.steps, 'consistency', detail), unchecked: { kind: 'not-fetched', detail } };
  }
  const { kind, detail } = followed;
  if (kind === 'ok') return { ok: true, steps: [...result.steps, { step: 'consistency', ok: true, detail }] };
  const { known, shown } = followed;
  const conflict = { kind, shown, ...(known !== undefined && { known }) };
  return { ...failed(result.steps, 'consistency', detail), conflict };
}

/** A tile or a checkpoint; `content` is undefined where the ledger does not have it. */
async function fetchResource(url: URL, options: ClientOptions): Promise<Resource> {
  const fetched = await fetchFor(url, { ...options, maxBytes: MAX_RESOURCE_BYTES });
  if (!fetched.ok) return { problem: fetched.problem };
  if (fetched.status === 200) return { content: fetched.content };
  const isUnable = fetched.status === 429 || fetched.status >= 500;
  return isUnable ? { problem: `${url} answers with status ${fetched.status}` } : { content: undefined };
}

/** `isFetched` is false without a response. */
type NoDocument = { readonly ok: false; readonly problem: string; readonly isFetched: boolean };
type Document = { readonly ok: true; readonly value: unknown } | NoDocument;

async function fetchDocument(url: URL | undefined, options: ClientOptions): Promise<Document> {
  if (!url) return { ok: false, problem: 'the receipt points away from the service', isFetched: true };
  const fetched = await fetchFor(url, { ...options, maxBytes: MAX_DOCUMENT_BYTES });
  if (!fetched.ok) return { ...fetched, isFetched: false };
  if (fetched.status !== 200)
    return { ok: false, problem: `${url} answers with status ${fetched.status}`, isFetched: true };
  try {
    return { ok: true, value: parseStrictJson(new TextDecoder().decode(fetched.content)) };
  } catch {
    return { ok: false, problem: `${url} is not JSON`, isFetched: true };
  }
}

/** An answer may contain the path of its keys, but not another host: the caller trusts only the base URL. */
function keySetUrl({ public_key_url }: Provenance, base: URL): URL | undefined {
  return /^\/\.well-known\/[\w.-]+$/.test(public_key_url) ? new URL(public_key_url, base) : undefined;
}

function ledgerUrl({ ledger_receipt_id }: Provenance, keySet: unknown, base: URL): URL | undefined {
  const isId = /^cr_[a-z2-7]{32}$/.test(ledger_receipt_id);
  return isId ? new URL(`${ledgerPathOf(keySet)}receipts/${ledger_receipt_id}`, base) : undefined;
}

function fetchFor(
  url: URL,
  {
    fetch = globalThis.fetch,
    signal,
    maxBytes,
    headers,
  }: ClientOptions & { maxBytes: number; headers?: Record<string, string> },
): Promise<Fetched> {
  return fetchBounded(url, { fetch, maxBytes, ...(headers && { headers }), ...(signal && { signal }) });
}

function blame(result: Verification, { problem, isFetched }: NoDocument): VerifiedAnswer {
  const passed: readonly StepResult[] = result.steps.slice(0, -1);
  const detail = sentence(problem);
  const blamed = failed(passed, result.failedStep ?? 'key', detail);
  return isFetched ? blamed : { ...blamed, unchecked: { kind: 'not-fetched', detail } };
}

const sentence = (problem: string): string => `${problem[0]?.toUpperCase()}${problem.slice(1)}.`;
