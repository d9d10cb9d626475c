// The targets of `strata stack scan`: any mixture of files, standard input and names.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { parseDomain } from '@strata/detect';
import { fileError, usageError } from '../../errors.ts';

/** None of these is a top-level domain. */
const LIST_FILE = /\.(?:txt|csv|tsv|list|lst|json|jsonl|md|gz|zip)$/i;
const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * The domains of all targets, without duplicates. Invalid lines of a file are returned in `rejected`. Throws CommandError (exit code 2)
 * for a target that is neither a file nor a domain name.
 */
export async function readTargets(targets: readonly string[], stdin: Readable): Promise<DomainList> {
  const domains = new Set<string>();
  const rejected: DomainList['rejected'][number][] = [];
  for (const target of targets) {
    const list = await listOf(target, stdin);
    for (const domain of list.domains) domains.add(domain);
    rejected.push(...list.rejected);
  }
  return { domains: [...domains], rejected };
}

async function listOf(target: string, stdin: Readable): Promise<DomainList> {
  if (target === '-') return readDomainList(stdin);
  // `https://example.com/about` is a URL from a browser, not a path.
  const isPath = !URL_START.test(target) && (/[/\\]/.test(target) || LIST_FILE.test(target));
  const found = await stat(target).catch((cause: unknown) => {
    if (isPath) throw fileError(target, cause);
    return undefined;
  });
  // A directory with the name of a domain does not hide the domain. Pipes (`<(…)` of a shell) are read as files.
  if (found && (isPath || !found.isDirectory())) {
    return readDomainList(createReadStream(target)).catch((cause: unknown) => {
      throw fileError(target, cause);
    });
  }
  const list = await domainListOf([target]);
  const [bad] = list.rejected;
  if (bad) throw usageError(`'${bad.text}' is neither a file nor a domain: ${bad.message}`);
  return list;
}

interface DomainList {
  /** Registrable domains in order of first appearance, without repeats. */
  readonly domains: readonly string[];
  readonly rejected: readonly { readonly line: number; readonly text: string; readonly message: string }[];
}

/** Longer lines are rejected without parsing them. */
const maxLineLength = 2_048;

/**
 * Reads a list from a stream. Accepts `example.com`, `12,example.com` (Tranco), rows below a header with `domain`,
 * `https://example.com/path` and host names, which are reduced to their registrable domain; `#` starts a comment.
 * Invalid lines are returned in `rejected`.
 */
async function readDomainList(input: Readable): Promise<DomainList> {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  return collect(lines, { mayHaveHeader: true });
}

/** The same for names from arguments; `line` is their position, from 1. */
async function domainListOf(names: readonly string[]): Promise<DomainList> {
  return collect(names, { mayHaveHeader: false });
}

async function collect(
  lines: AsyncIterable<string> | Iterable<string>,
  { mayHaveHeader }: { readonly mayHaveHeader: boolean },
): Promise<DomainList> {
  const domains = new Set<string>();
  const rejected: { line: number; text: string; message: string }[] = [];
  let number = 0;
  /** Of the header's `domain`; without it the name is in the last column. */
  let column = -1;
  for await (const line of lines) {
    number += 1;
    if (number === 1 && mayHaveHeader) {
      column = cellsIn(line).findIndex((cell) => cell.toLowerCase() === 'domain');
      if (column >= 0) continue;
    }
    const name = nameIn(line, column);
    if (name === '') continue;
    const parsed = name.length > maxLineLength ? tooLong : parseDomain(name);
    if (parsed.ok) domains.add(parsed.domain);
    else rejected.push({ line: number, text: name.slice(0, 100), message: parsed.message });
  }
  return { domains: [...domains], rejected };
}

const tooLong = { ok: false, message: 'the line is too long for a domain name' } as const;

/** The cells of a row, without their quotes. A line break ends a row, also in quotes: no name has one. */
function cellsIn(line: string): string[] {
  const cells = line
    .replace(/^\uFEFF/, '')
    .slice(0, maxLineLength)
    .match(/(?:"(?:[^"]|"")*"?|[^,"])+|(?<=,|^)(?=,|$)/g);
  return (cells ?? []).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
}

function nameIn(line: string, column: number): string {
  const text = line
    .replace(/^\uFEFF/, '')
    .replace(/(?:^|\s)#.*$/, '')
    .trim();
  const cell = column < 0 ? text.slice(text.lastIndexOf(',') + 1).trim() : (cellsIn(line)[column] ?? '');
  return cell.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/[/?#].*$/, '');
}
