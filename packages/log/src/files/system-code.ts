// What the system calls an error.

/** `code` of a system error, such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
