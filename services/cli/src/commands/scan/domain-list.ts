// Parses domain lists: one name a line or CSV, with comments, blank lines and URLs.
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { type Delimiter, delimiterOf, hostIn, nameColumn, parseDomain } from '@strata/detect';
import { asUtf8 } from '@strata/http';

export interface DomainList {
  /** Registrable domains in order of first appearance, without repeats. */
  readonly domains: readonly string[];
  /** Each of them as it was first written: a host, a URL or an e-mail address. */
  readonly texts: readonly string[];
  readonly rejected: readonly { readonly line: number; readonly text: string; readonly message: string }[];
}

/** Longer lines are rejected without parsing them. */
const maxLineLength = 2_048;

/**
 * Reads a list from a stream. Accepts `example.com`, CSV as `nameColumn` reads it, `https://example.com/path`, `info@example.com` and host
 * names, which are reduced to their registrable domain; `#` starts a comment. Invalid lines are returned in `rejected`.
 */
export async function readDomainList(input: Readable): Promise<DomainList> {
  const lines = createInterface({ input: Readable.from(asUtf8(input)), crlfDelay: Number.POSITIVE_INFINITY })[
    Symbol.asyncIterator
  ]();
  const head = [await lines.next(), await lines.next()].flatMap(({ done, value }) => (done ? [] : [String(value)]));
  const delimiter = delimiterOf(head[0]?.slice(0, maxLineLength) ?? '');
  const { column, hasHeader } = nameColumn(head.map((line) => cellsIn(line, delimiter)));
  const { list, add } = collector(delimiter);
  for (const [i, line] of head.entries()) add(i === 0 && hasHeader ? '' : line, column);
  for await (const line of { [Symbol.asyncIterator]: () => lines }) add(line, column);
  return list();
}

/** The same for names from arguments; `line` is their position, from 1. */
export function domainListOf(names: readonly string[]): DomainList {
  const { list, add } = collector(',');
  for (const name of names) add(name, 0);
  return list();
}

function collector(delimiter: Delimiter) {
  const domains = new Map<string, string>();
  const rejected: DomainList['rejected'][number][] = [];
  let number = 0;
  const add = (line: string, column: number) => {
    number += 1;
    const cells = cellsIn(line, delimiter);
    // Rows of a list may be shorter: `9,example.com` beside names alone.
    const name = (cells[column] ?? cells.at(-1) ?? '').replace(/(?:^|\s)#.*$/, '');
    // A row with other cells lacks its name.
    if (name === '' && (cells.every((cell) => cell === '') || cells.some((cell) => cell.startsWith('#')))) return;
    const parsed = line.length > maxLineLength ? tooLong : parseDomain(hostIn(name));
    if (!parsed.ok) rejected.push({ line: number, text: (name || line).slice(0, 100), message: parsed.message });
    else if (!domains.has(parsed.domain)) domains.set(parsed.domain, name);
  };
  return { list: () => ({ domains: [...domains.keys()], texts: [...domains.values()], rejected }), add };
}

const tooLong = { ok: false, message: 'the line is too long for a domain name' } as const;

/** The cells of a row, without their quotes. A line break ends a row, also in quotes: no name has one. */
function cellsIn(line: string, delimiter: Delimiter): string[] {
  const cells = line
    .replace(/^\uFEFF/, '')
    .slice(0, maxLineLength)
    .match(new RegExp(`(?:"(?:[^"]|"")*"?|[^${delimiter}"])+|(?<=${delimiter}|^)(?=${delimiter}|$)`, 'g'));
  return (cells ?? []).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
}
