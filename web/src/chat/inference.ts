// The inference service as the chat asks it: models, the network, and answers piece by piece.
import type { VerifiedAnswer } from '@strata/client';

export interface Model {
  readonly id: string;
  readonly name: string;
  readonly engine: string;
  readonly parameters: number | null;
  readonly quantisation: string | null;
  readonly context_length: number | null;
  readonly slots: number;
}

export interface Peer {
  readonly peer: string;
  readonly role: 'worker' | 'other';
  readonly connected_since: string | null;
  readonly round_trip_ms: number | null;
  readonly software: string | null;
  readonly models: readonly {
    readonly name: string;
    readonly sha256: string;
    readonly quantisation: string;
    readonly context_length: number;
    readonly slots: number;
    readonly prefill_tokens_per_second: number;
    readonly decode_tokens_per_second: number;
  }[];
  readonly running: number;
  readonly waiting: number;
  readonly standing: { readonly state: string; readonly trust: number; readonly audits: number } | null;
}

export interface Network {
  readonly self: { readonly peer: string; readonly software: string };
  readonly peers: readonly Peer[];
  readonly models: readonly {
    readonly id: string;
    readonly workers: number;
    readonly slots: number;
    readonly running: number;
    readonly waiting: number;
  }[];
  readonly audits: readonly {
    readonly at: string;
    readonly kind: 'answer' | 'challenge';
    readonly worker: string;
    readonly outcome: string;
  }[];
  readonly totals: {
    readonly peers: number;
    readonly workers: number;
    readonly models: number;
    readonly slots: number;
    readonly running: number;
    readonly waiting: number;
  };
}

/** A part of an answer, and who made it. */
export interface Segment {
  readonly worker: string;
  readonly from: number;
  readonly to: number;
}

/** The receipt as far as the chat shows it. */
export interface Receipt {
  readonly outcome: string;
  readonly request_sha256: string;
  readonly answer_sha256: string;
  readonly segments?: readonly Segment[];
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Why an answer did not come, or not whole. */
export class InferenceProblem extends Error {
  override readonly name = 'InferenceProblem';
  readonly code: string;
  /** When another try may do. */
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;

  constructor(
    code: string,
    message: string,
    { retryAfterMs = null, requestId = null }: { retryAfterMs?: number | null; requestId?: string | null } = {},
  ) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
  }
}

export type AnswerEvent =
  | { readonly kind: 'begun'; readonly receiptId: string | null }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'finished'; readonly reason: string }
  | { readonly kind: 'usage'; readonly usage: Usage };

const bearer = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` };

/** The models that are served now. Rejects with InferenceProblem. */
export async function listModels(key: string | undefined, signal: AbortSignal): Promise<readonly Model[]> {
  return (await getJson<{ readonly data: readonly Model[] }>('/v1/models', key, signal)).data;
}

/** Who is there; null where the service has an engine of its own and no network. */
export async function askNetwork(signal: AbortSignal): Promise<Network | null> {
  return getJson<Network>('/network', undefined, signal).catch((error: unknown) => {
    if (error instanceof InferenceProblem && error.code === 'not_found') return null;
    throw error;
  });
}

/** The receipt of an answer; it is there a moment after the answer's end. */
export function askReceipt(id: string, key: string | undefined, signal: AbortSignal): Promise<Receipt> {
  return getJson<Receipt>(`/v1/receipts/${encodeURIComponent(id)}`, key, signal);
}

/** Checks a receipt in this browser: signature, key, leaf, inclusion and checkpoint. */
export async function verifyReceipt(id: string, key: string | undefined): Promise<VerifiedAnswer> {
  const { verifyUrl } = await import('@strata/client');
  return verifyUrl(`${location.origin}/v1/receipts/${encodeURIComponent(id)}`, { headers: bearer(key) });
}

/** An answer as it comes. Ends after the last event; throws InferenceProblem for a refusal and for a stream that breaks off. */
export async function* askChat(
  body: string,
  key: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  const headers = { ...bearer(key), 'content-type': 'application/json' };
  const response = await reach('/v1/chat/completions', { method: 'POST', headers, body, signal });
  if (!response.ok) throw await refusalOf(response);
  yield { kind: 'begun', receiptId: response.headers.get('x-receipt-id') };
  try {
    for await (const data of dataLines(response, signal)) {
      if (data === '[DONE]') return;
      yield* eventsOf(JSON.parse(data));
    }
  } catch (error) {
    if (signal.aborted || error instanceof InferenceProblem) throw error;
    throw brokenOff();
  }
  throw brokenOff();
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: Usage | null;
  readonly error?: { readonly code?: string | null; readonly message?: string };
}

function* eventsOf({ choices, usage, error }: Chunk): Generator<AnswerEvent> {
  if (error) throw new InferenceProblem(error.code ?? 'failed', error.message ?? 'The answer failed.');
  const [choice] = choices ?? [];
  if (choice?.delta?.content) yield { kind: 'text', text: choice.delta.content };
  if (choice?.finish_reason) yield { kind: 'finished', reason: choice.finish_reason };
  if (usage) yield { kind: 'usage', usage };
}

const brokenOff = () => new InferenceProblem('network', 'The connection was lost before the answer was whole.');

async function* dataLines(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  // What has come already is not read on either.
  const leave = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', leave);
  let rest = '';
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data:')) yield line.slice(5).trim();
    }
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
  }
}

async function getJson<T>(path: string, key: string | undefined, signal: AbortSignal): Promise<T> {
  const response = await reach(path, { headers: bearer(key), signal });
  if (!response.ok) throw await refusalOf(response);
  return (await response.json()) as T;
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new InferenceProblem('network', 'The service cannot be reached.');
  }
}

async function refusalOf(response: Response): Promise<InferenceProblem> {
  const body = (await response.json().catch(() => null)) as Chunk | null;
  const wait = Number(response.headers.get('retry-after-ms') ?? Number.NaN);
  return new InferenceProblem(
    body?.error?.code ?? (response.status === 404 ? 'not_found' : 'failed'),
    body?.error?.message ?? `The service answered with status ${response.status}.`,
    { retryAfterMs: Number.isFinite(wait) ? wait : null, requestId: response.headers.get('x-request-id') },
  );
}
