// Output of commands: a table, or one JSON value with --json. Results go to standard output, everything else to standard error.
import { plainText } from '@strata/questions/plain-text';
import Table from 'cli-table3';
import type { OutputStream } from './context.ts';

export { plainText };

export interface OutputOptions {
  readonly json?: boolean;
}

export function printJson(stdout: OutputStream, value: unknown): void {
  const json = JSON.stringify(value, null, stdout.isTTY ? 2 : undefined);
  // JSON has these characters in strings only. Escaped, the value is the same and cannot control the terminal.
  const escaped = json.replace(/[\u007f-\u009f\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu, escapeOf);
  stdout.write(`${escaped}\n`);
}

function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

/** Prints rows under a header, without borders, so that the text can be copied. */
export function printTable(stdout: OutputStream, head: readonly string[], rows: readonly (readonly string[])[]): void {
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
    style: { 'padding-left': 0, 'padding-right': 0, head: stdout.isTTY ? ['bold'] : [], border: [] },
  });
  for (const row of rows) table.push(row.map(plainText));
  stdout.write(`${table.toString()}\n`);
}

/** A line of a list that is not used; `line` is null where the format has no lines. */
export interface RejectedLine {
  readonly line: number | null;
  readonly text: string;
  readonly message: string;
}

const SHOWN_REJECTED = 5;

/** Prints the first rejected lines, and the number of further ones. */
export function printRejected(stderr: OutputStream, rejected: readonly RejectedLine[]): void {
  for (const { line, text, message } of rejected.slice(0, SHOWN_REJECTED))
    stderr.write(`${line === null ? '' : `line ${line}: `}skipped '${plainText(text)}': ${message}\n`);
  const more = rejected.length - SHOWN_REJECTED;
  if (more > 0) stderr.write(`${counted(more, 'more line')} skipped\n`);
}

/** `1 record`, `2 records`: for nouns with a plural in -s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
