// Errors whose message is written for the user: programs print it without a stack and exit with `exitCode`.

/** Errors of packages that do not import this one have the same fields; `isUserError` recognises both. */
export class UserError extends Error {
  override readonly name: string = 'UserError';
  /** 1 for a failure, 2 for wrong usage or invalid settings. */
  readonly exitCode: 1 | 2 = 1;
}

/** Invalid settings; the message has one line per variable. */
export class SettingsError extends UserError {
  override readonly name = 'SettingsError';
  override readonly exitCode = 2;
}

/** A program cannot start for a reason that its operator can fix; the message says what to change. */
export class StartError extends UserError {
  override readonly name = 'StartError';
}

export function isUserError(error: unknown): error is Error & { readonly exitCode: number; readonly code?: unknown } {
  return error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number';
}
