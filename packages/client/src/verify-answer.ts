// Verifies an answer with nothing but the service's address: fetches its key set and ledger receipt, then checks.
import {
  AmbiguousJsonError,
  failed,
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
import { type Fetched, fetchBounded } from './fetch-bounded.ts';

/** A result of verification, with the answer itself where that could be read. */
export interface VerifiedAnswer extends Verification {
  /** The JSON body, or the bytes of a detached answer. */
  readonly answer?: unknown;
}

export interface ClientOptions {
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** C2SP verifier key of the ledger, known from elsewhere: then the service need not be trusted to name it. */
  readonly ledgerKey?: string;
  readonly signal?: AbortSignal;
}

export interface VerifyUrlOptions extends ClientOptions {
  /** API key, sent as `X-Stack-Key`. */
  readonly key?: string;
}

export interface VerifyBodyOptions extends ClientOptions {
  /** The service that gave the answer, such as `https://strata.example`. */
  readonly baseUrl: string;
}

/** Bytes whose receipt stands in the `Stack-Provenance` header. */
export interface DetachedInput {
  readonly content: Uint8Array;
  /** The `Content-Type` header as sent. */
  readonly contentType: string;
  /** The `Stack-Provenance` header as sent. */
  readonly provenance: string;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_DOCUMENT_BYTES = 1024 * 1024;

/**
 * Fetches an answer and verifies it, its receipt inside or in its header. Resolves for whatever comes back: what
 * could not be fetched or read fails the step that needs it. Rejects only when the signal aborts.
 */
export async function verifyUrl(url: string, options: VerifyUrlOptions = {}): Promise<VerifiedAnswer> {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (!target || !/^https?:$/.test(target.protocol)) return failed([], 'content', `${url} is not a web address.`);
  const headers: Record<string, string> = options.key === undefined ? {} : { 'X-Stack-Key': options.key };
  const fetched = await fetchFor(target, { ...options, maxBytes: MAX_ANSWER_BYTES, headers });
  if (!fetched.ok) return failed([], 'content', `${fetched.problem}.`);
  const against = { ...options, baseUrl: target.origin };
  const provenance = fetched.headers.get('stack-provenance');
  if (provenance === null) return verifyBody(fetched.content, against);
  const contentType = fetched.headers.get('content-type') ?? '';
  return verifyDetached({ content: fetched.content, contentType, provenance }, against);
}

/** Verifies a saved JSON answer: the text or bytes of its file, or the value that was parsed from it. */
export async function verifyBody(body: unknown, options: VerifyBodyOptions): Promise<VerifiedAnswer> {
  let value = body;
  try {
    if (body instanceof Uint8Array) value = parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    else if (typeof body === 'string') value = parseStrictJson(body);
  } catch (error) {
    const reason = error instanceof AmbiguousJsonError ? error.message : 'not UTF-8 text';
    return failed([], 'content', `The answer cannot be read: ${reason}.`);
  }
  const claimed = typeof value === 'object' && value !== null && 'provenance' in value ? value.provenance : undefined;
  const result = await verifyWith(claimed, options, (documents) => verifyAnswer(value, documents));
  return { ...result, answer: value };
}

/** Verifies bytes such as CSV with the headers that came with them. */
export async function verifyDetached(input: DetachedInput, options: VerifyBodyOptions): Promise<VerifiedAnswer> {
  const { content, contentType } = input;
  let provenance: unknown;
  try {
    provenance = parseStrictJson(input.provenance);
  } catch {
    return failed([], 'content', 'The Stack-Provenance header is not JSON.');
  }
  const check = (documents: VerifyOptions) => verifyDetachedAnswer({ content, contentType, provenance }, documents);
  return { ...(await verifyWith(provenance, options, check)), answer: content };
}

/** Fetches the two documents that a receipt points to, and blames the right step when one cannot be had. */
async function verifyWith(
  claimed: unknown,
  options: VerifyBodyOptions,
  verify: (documents: VerifyOptions) => Promise<Verification>,
): Promise<Verification> {
  const provenance = readProvenance(claimed);
  if (!provenance) return failed([], 'content', 'The answer has no complete provenance.');
  const base = URL.canParse(options.baseUrl) ? new URL(options.baseUrl) : undefined;
  if (!base) return failed([], 'key', `${options.baseUrl} is not a web address.`);
  const keySet = await fetchDocument(keySetUrl(provenance, base), options);
  const ledgerReceipt = keySet.ok ? await fetchDocument(ledgerUrl(provenance, keySet.value, base), options) : keySet;
  const result = await verify({
    keySet: keySet.ok ? keySet.value : undefined,
    ledgerReceipt: ledgerReceipt.ok ? ledgerReceipt.value : undefined,
    ...(options.ledgerKey !== undefined && { ledgerKey: options.ledgerKey }),
  });
  if (result.failedStep === 'key' && !keySet.ok) return blame(result, keySet.problem);
  if (result.failedStep === 'leaf' && !ledgerReceipt.ok) return blame(result, ledgerReceipt.problem);
  return result;
}

type Document = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

async function fetchDocument(url: URL | undefined, options: ClientOptions): Promise<Document> {
  if (!url) return { ok: false, problem: 'the receipt points away from the service' };
  const fetched = await fetchFor(url, { ...options, maxBytes: MAX_DOCUMENT_BYTES });
  if (!fetched.ok) return fetched;
  if (fetched.status !== 200) return { ok: false, problem: `${url} answers with status ${fetched.status}` };
  try {
    return { ok: true, value: parseStrictJson(new TextDecoder().decode(fetched.content)) };
  } catch {
    return { ok: false, problem: `${url} is not JSON` };
  }
}

/** An answer may name the place of its keys, never another host: the caller trusts the base address only. */
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

function blame(result: Verification, problem: string): Verification {
  const passed: readonly StepResult[] = result.steps.slice(0, -1);
  return failed(passed, result.failedStep ?? 'key', `${problem[0]?.toUpperCase()}${problem.slice(1)}.`);
}
