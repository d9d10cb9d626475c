// Why a file that a user named cannot be read, in words.
import { CommandError } from './output.ts';

/** Wrong use (exit code 2), from the system's error about `file`; `advice` for when there is no such file. */
export function fileError(file: string, cause: unknown, advice?: string): CommandError {
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? '';
  const reason = reasons[code]?.(file) ?? `'${file}' cannot be read (${code || 'unknown reason'})`;
  const hint = advice !== undefined && reason === noFile(file) ? `; ${advice}` : '';
  return new CommandError(reason + hint, { exitCode: 2, cause });
}

const noFile = (file: string) => `there is no file '${file}'`;

const reasons: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: noFile,
  ENOTDIR: noFile,
  EISDIR: (file) => `'${file}' is a directory, not a file`,
  EACCES: (file) => `'${file}' may not be read: permission is denied`,
};
