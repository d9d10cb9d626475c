// Maps an upstream's error responses: the client's fault with the upstream's message, our configuration's fault, or a
// failure.
import { CompletionError, type ErrorName } from '@strata/inference';
import { z } from 'zod';
import { EngineError } from '../engine.ts';

/** An error response, in any of the formats in use. */
interface UpstreamRefusal {
  readonly status: number;
  readonly message: string;
  readonly code: string;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** `connect`: no connection; `timeout`: nothing arrived in time; `failed`: an error status, or an unreadable answer. */
export type UpstreamFault = 'connect' | 'timeout' | 'failed';

/** An upstream gave no answer, or only a part of one, for a reason that is not the client's. */
export class UpstreamError extends EngineError {
  readonly fault: UpstreamFault;
  /** How long the upstream asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    {
      fault = 'failed',
      retryAfterMs,
      ...options
    }: ErrorOptions & { readonly fault?: UpstreamFault; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super('upstream-failed', message, options);
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Characters of the upstream's message that the client receives. */
const MAX_MESSAGE = 300;
/** Default delay where a busy upstream names none. */
const BUSY_MS = 1_000;

const text = z.union([z.string(), z.number().transform(String)]).nullish();
/** `{message, type, param, code}`; llama-server and vLLM put the status into `code`. */
const errorObject = z.object({ message: z.string(), type: text, code: text, param: text });
/**
 * Most servers send `error` as an object, some proxies as a string; old vLLM sends the bare object; FastAPI sends
 * `detail`.
 */
export const errorShape = z.union([
  z.object({ error: errorObject }).transform(({ error }) => error),
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error })),
  errorObject,
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail })),
  z
    .object({ detail: z.array(z.object({ msg: z.string(), loc: z.array(text).optional() })).min(1) })
    .transform(({ detail }) => ({ message: detail.map(({ msg, loc }) => `${loc?.at(-1) ?? ''}: ${msg}`).join('; ') })),
]);

interface Answered extends Pick<UpstreamRefusal, 'status' | 'retryAfterMs'> {
  /** Our key: removed from messages. */
  readonly secret: string | undefined;
}

export function readRefusal(body: string, { status, retryAfterMs, secret }: Answered): UpstreamRefusal {
  const error: z.output<typeof errorObject> = errorShape.safeParse(jsonOf(body)).data ?? { message: '' };
  return {
    status,
    message: shortened(secret ? error.message.replaceAll(secret, '…') : error.message),
    code: `${error.code ?? ''} ${error.type ?? ''}`.trim(),
    param: error.param ? String(error.param).slice(0, 128) : undefined,
    retryAfterMs,
  };
}

/** An error within a stream, whose status is the one that it names. */
export function refusalInStream(event: string, secret: string | undefined): UpstreamRefusal {
  const refusal = readRefusal(event, { status: 500, retryAfterMs: undefined, secret });
  const [, status] = /\b([45]\d\d)\b/.exec(refusal.code) ?? [];
  return { ...refusal, status: Number(status ?? (/invalid_request|BadRequest/.test(refusal.code) ? 400 : 500)) };
}

/** The client's faults carry the upstream's message; all other errors carry ours. */
export function errorOf(refusal: UpstreamRefusal): CompletionError | EngineError {
  const { status, message, code, param, retryAfterMs } = refusal;
  const detail = message === '' ? `status ${status}` : `status ${status}: ${message}`;
  const caller = (kind: ErrorName, text: string, at = param) =>
    new CompletionError(kind, message === '' ? text : message, { param: at, cause: new Error(detail) });
  switch (status) {
    case 400:
    case 422:
      if (isTooLong(refusal)) return caller('context_length', 'The prompt is longer than the context of this model.');
      return caller('invalid_request', 'The model cannot serve this request.');
    case 404:
      if (code.includes('model_not_found') || /\bmodel\b/i.test(message))
        return caller('model_not_found', 'The model is no longer available.', 'model');
      return caller('not_found', 'The server of this model does not support this operation.');
    case 413:
      return caller('too_large', 'The request is too large for the server of this model.');
    case 501:
      return caller('unsupported_value', 'The server of this model does not support this operation.');
    case 401:
    case 402:
    case 403:
    case 407:
      return new EngineError('upstream-refused', `the upstream rejects the configured key (status ${status})`);
    case 429:
      if (isOutOfCredit(refusal))
        return new EngineError('upstream-refused', 'the account at the upstream is out of credit');
      return new CompletionError('overloaded', 'The model is overloaded. Try again later.', {
        retryAfterMs: retryAfterMs ?? BUSY_MS,
        cause: new Error(detail),
      });
    default:
      return new UpstreamError(`the upstream answered with ${detail}`, { retryAfterMs });
  }
}

/** Waiting does not help. */
export function isOutOfCredit({ status, code }: UpstreamRefusal): boolean {
  return status === 429 && code.includes('insufficient_quota');
}

/**
 * `context_length_exceeded`, llama-server's `exceed_context_size_error`, and vLLM, which says it only in the message.
 */
function isTooLong({ code, message }: UpstreamRefusal): boolean {
  return (
    /context_length|context_size/.test(code) ||
    /maximum (context|model) length|context size|prompt is too long/i.test(message)
  );
}

/** Undefined if it is not JSON: the parser's message would quote parts of it. */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function shortened(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line;
}

/** What the server did, as an error. */
export function failed(what: string, cause?: unknown, fault?: UpstreamFault): UpstreamError {
  const options = cause === undefined ? {} : { cause };
  return new UpstreamError(`the upstream ${what}`, fault === undefined ? options : { ...options, fault });
}

/** Names the position of the first invalid value, without the value. */
export function invalid(what: string, cause: z.ZodError): EngineError {
  return failed(`sent ${what}: at ${cause.issues[0]?.path.join('.') || 'the top'}`, cause);
}
