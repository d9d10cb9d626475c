// Recognises error answers. They have receipts too.

/** The error of an answer. Reliable only if its receipt is valid. */
export interface AnswerProblem {
  /** HTTP status of the signed problem body, otherwise of the response. */
  readonly status: number;
  /** From the service's error table, such as `invalid_key`. */
  readonly code?: string;
  readonly detail?: string;
}

/** The problem of an answer (RFC 9457); undefined for an answer that is not an error. `status` is that of the response. */
export function problemOf(answer: unknown, status?: number): AnswerProblem | undefined {
  const body: Record<string, unknown> = typeof answer === 'object' && answer !== null ? { ...answer } : {};
  const isProblemBody = typeof body.title === 'string' && isErrorStatus(body.status);
  if (!isProblemBody) return isErrorStatus(status) ? { status } : undefined;
  return {
    status: Number(body.status),
    ...(typeof body.code === 'string' && { code: body.code }),
    ...(typeof body.detail === 'string' && { detail: body.detail }),
  };
}

const isErrorStatus = (status: unknown): status is number =>
  typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600;
