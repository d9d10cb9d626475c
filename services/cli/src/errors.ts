// Errors of commands, and how an error becomes a message on standard error and an exit code.
import { CommanderError } from 'commander';
import type { CommandContext } from './context.ts';
import type { DataOwner } from './data-owner.ts';
import { plainText } from './output.ts';

/** A failure that the user can fix: the message is printed without a stack. `exitCode` is never 0. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}

/** An argument, option or file that cannot be used: exit code 2. */
export const usageError = (message: string, cause?: unknown): CommandError =>
  new CommandError(message, { exitCode: 2, cause });

/** A usage error for a file that cannot be read; `hint` is added where the file does not exist. */
export function fileError(file: string, cause: unknown, hint?: string): CommandError {
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? '';
  const reason = FILE_REASONS[code]?.(file) ?? `'${file}' cannot be read (${code || 'unknown reason'})`;
  return usageError(hint !== undefined && reason === noFile(file) ? `${reason}; ${hint}` : reason, cause);
}

const noFile = (file: string) => `file '${file}' does not exist`;

const FILE_REASONS: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: noFile,
  ENOTDIR: noFile,
  EISDIR: (file) => `'${file}' is a directory, not a file`,
  EACCES: (file) => `'${file}' cannot be read: permission denied`,
};

/** Prints an error and returns the exit code. An error that is not for the user is a bug and is printed with its stack. */
export async function reportError(error: unknown, { stderr }: CommandContext, owner: DataOwner): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandError) {
    // The message may repeat input from any source.
    stderr.write(`strata: ${error.message.split('\n').map(plainText).join('\n')}\n`);
    return error.exitCode;
  }
  // Errors of packages whose message is written for the user have an exit code; checked without loading their classes.
  const { name, message, code, hint, syscall, exitCode } = Object(error) as NodeJS.ErrnoException & {
    readonly exitCode?: number;
    /** What to do about it. */
    readonly hint?: string;
  };
  if (name === 'SettingsError') {
    stderr.write(`strata: invalid settings\n${message.replace(/^/gm, '  ')}\n`);
    return 2;
  }
  if (exitCode !== undefined || syscall) {
    const isAboutFile = syscall !== undefined || code === 'cannot-open' || code === 'EACCES';
    const advice = hint ?? (isAboutFile ? await owner.denied() : undefined);
    stderr.write(`strata: ${advice === undefined ? message : `${message.replace(/\.$/, '')}: ${advice}`}\n`);
    return exitCode ?? 1;
  }
  stderr.write(`strata: unexpected: ${error instanceof Error ? error.stack : String(error)}\n`);
  return 1;
}
