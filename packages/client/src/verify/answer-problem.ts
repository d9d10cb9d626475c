// Whether an answer, verified or not, is an error: a receipt holds for "invalid key" as it does for a profile.

/** What an answer says went wrong. To be believed only when its receipt holds. */
export interface AnswerProblem {
  /** HTTP status: of the signed problem body where there is one, else of the response. */
  readonly status: number;
  /** As in the service's error table, such as `invalid_key`. */
  readonly code?: string;
  readonly detail?: string;
}

/** The problem that an answer tells of (RFC 9457), or undefined for a good answer. `status` is that of the response. */
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
