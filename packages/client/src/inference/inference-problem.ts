// Errors of the inference service: its error object, in a response or in a stream, or no usable answer.
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
 * `code` is that of the service, or one of the client: `network` (no answer, or an interrupted one) and `invalid_answer` (an answer that
 * cannot be parsed).
 */
export class InferenceProblem extends Error {
  override readonly name = 'InferenceProblem';
  /** HTTP status; 0 without a response, 200 where an answer failed after its start. */
  readonly status: number;
  readonly code: string | null;
  readonly type: string;
  /** The invalid field of the request. */
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** Identifies the request in the log of the service. */
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

/** The problem of a response with status 400 or above, from any server. */
export function responseProblem(status: number, headers: Headers, text: string): InferenceProblem {
  const retryAfterSeconds = retryAfterOf(headers);
  const context = { status, retryAfterSeconds, requestId: headers.get('x-request-id') };
  const problem = problemIn(objectOf(text), context);
  if (problem) return problem;
  const message = `The service returned status ${status}.`;
  return new InferenceProblem({ ...context, code: 'invalid_answer', type: 'invalid_answer', message });
}

/** The problem in `{"error": {…}}`; undefined without one. */
export function problemIn(
  body: Record<string, unknown> | undefined,
  context: Pick<InferenceProblemFields, 'status' | 'retryAfterSeconds' | 'requestId'>,
): InferenceProblem | undefined {
  if (typeof body?.error !== 'object' || body.error === null) return undefined;
  const error = body.error as Record<string, unknown>;
  const text = (name: string) => (typeof error[name] === 'string' ? error[name] : null);
  return new InferenceProblem({
    ...context,
    code: text('code'),
    type: text('type') ?? 'unknown',
    param: text('param'),
    message: text('message') ?? 'The service gave no reason.',
  });
}
