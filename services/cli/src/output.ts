// What a command prints: a table for people, one JSON value with --json. Results go to standard output, the rest to standard error.
import Table from 'cli-table3';
import type { OutputStream } from './context.ts';

export interface OutputOptions {
  readonly json?: boolean;
}

export function printJson(stdout: OutputStream, value: unknown): void {
  const json = JSON.stringify(value, null, stdout.isTTY ? 2 : undefined);
  // Outside of strings JSON has none of these: escaped they say the same, and steer no terminal.
  const escaped = json.replace(/[\u007f-\u009f\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu, escapeOf);
  stdout.write(`${escaped}\n`);
}

function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

/**
 * Characters that turn text or are not seen: formats (bidirectional marks and overrides, zero width, tags), and all else that is
 * to be drawn as nothing (Unicode, `Default_Ignorable_Code_Point`: variation selectors, fillers of Hangul, unassigned tags), in
 * which a whole message can be hidden. The blank of Braille is drawn as nothing too, though Unicode counts it as a sign.
 */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+/gu;

/** Strangers' words as one line for a terminal or a model: without what breaks the line, steers the terminal, or turns or hides text. */
export function plainText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(UNSEEN, '');
}

/** Prints rows under a header; without borders, so that it can be cut and pasted. */
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
