// What a command prints: a table for people, one JSON value with --json. Results go to standard output, the rest to standard error.
import Table from 'cli-table3';

export interface OutputOptions {
  readonly json?: boolean;
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)}\n`);
}

/** Prints rows under a header; without borders, so that it can be cut and pasted. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const blank = Object.fromEntries(
    ['top', 'bottom', 'left', 'right', 'mid', 'middle'].flatMap((side) => [
      [side, ''],
      [`${side}-mid`, ''],
      [`${side}-left`, ''],
      [`${side}-right`, ''],
    ]),
  );
  const table = new Table({
    head: [...head],
    chars: { ...blank, middle: '  ' },
    style: { 'padding-left': 0, 'padding-right': 0, head: process.stdout.isTTY ? ['bold'] : [], border: [] },
  });
  for (const row of rows) table.push([...row]);
  process.stdout.write(`${table.toString()}\n`);
}

/** `1 record`, `2 records`; for words that take an s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A failure that is the user's to mend: its message is printed, without a stack. `exitCode` is never 0. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}
