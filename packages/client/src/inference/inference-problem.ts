// What went wrong at the inference service: its error object, in an answer or inside a stream, or no usable answer.
import { objectOf } from '../http/answer-text.ts';
import { retryAfterOf } from '../stack/stack-problem.ts';

export interface InferenceProblemFields {
  readonly status: number;
  readonly code: string | null;
  readonly type: string;
  readonly param?: string | null;
  readonly message: string;
  readonly retryAfterSeconds?: number | null;
  readonly requestId?: string | null;
}

/**
 * `code` is the service's, or one of the client's own: `network` (no answer, or one that broke off) and
 * `invalid_answer` (an answer that cannot be read).
 */
export class InferenceProblem extends Error {
  override readonly name = 'InferenceProblem';
  /** Of the response; 0 where there was none, 200 where an answer failed after it had begun. */
  readonly status: number;
  readonly code: string | null;
  readonly type: string;
  /** The field of the request that is at fault. */
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** By which the service finds it in its log. */
  readonly requestId: string | null;

  constructor(fields: InferenceProblemFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.status = fields.status;
    this.code = fields.code;
    this.type = fields.type;
    this.param = fields.param ?? null;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
    this.requestId = fields.requestId ?? null;
  }
}

export function unreachable(
  message: string,
  { requestId = null, ...options }: ErrorOptions & { readonly requestId?: string | null } = {},
): InferenceProblem {
  return new InferenceProblem({ status: 0, code: 'network', type: 'network', message, requestId }, options);
}

export function unreadable(message: string, status: number): InferenceProblem {
  return new InferenceProblem({ status, code: 'invalid_answer', type: 'invalid_answer', message });
}

/** The problem that a response of status 400 and above tells of, whoever sent it. */
export function refusedBy(status: number, headers: Headers, text: string): InferenceProblem {
  const retryAfterSeconds = retryAfterOf(headers);
  const attending = { status, retryAfterSeconds, requestId: headers.get('x-request-id') };
  const told = toldProblem(objectOf(text), attending);
  if (told) return told;
  const message = `The service answered with status ${status}.`;
  return new InferenceProblem({ ...attending, code: 'invalid_answer', type: 'invalid_answer', message });
}

/** The problem in `{"error": {…}}`, or undefined where there is none. */
export function toldProblem(
  body: Record<string, unknown> | undefined,
  attending: Pick<InferenceProblemFields, 'status' | 'retryAfterSeconds' | 'requestId'>,
): InferenceProblem | undefined {
  if (typeof body?.error !== 'object' || body.error === null) return undefined;
  const told = body.error as Record<string, unknown>;
  const word = (name: string) => (typeof told[name] === 'string' ? told[name] : null);
  return new InferenceProblem({
    ...attending,
    code: word('code'),
    type: word('type') ?? 'unknown',
    param: word('param'),
    message: word('message') ?? 'The service tells no reason.',
  });
}
