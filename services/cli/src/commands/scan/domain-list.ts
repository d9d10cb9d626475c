// Parses domain lists: one name a line, `rank,name` CSV, comments, blank lines and URLs.
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { parseDomain } from '@strata/detect';

export interface DomainList {
  /** Registrable domains in order of first appearance, without repeats. */
  readonly domains: readonly string[];
  readonly rejected: readonly { readonly line: number; readonly text: string; readonly message: string }[];
}

/** Longer lines are rejected without parsing them. */
const maxLineLength = 2_048;

/**
 * Reads a list from a stream. Accepts `example.com`, `12,example.com` (Tranco), `https://example.com/path` and host names, which are
 * reduced to their registrable domain; `#` starts a comment. Invalid lines are returned in `rejected`.
 */
export async function readDomainList(input: Readable): Promise<DomainList> {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  return collect(lines);
}

/** The same for names from arguments; `line` is their position, from 1. */
export async function domainListOf(names: readonly string[]): Promise<DomainList> {
  return collect(names);
}

async function collect(lines: AsyncIterable<string> | Iterable<string>): Promise<DomainList> {
  const domains = new Set<string>();
  const rejected: { line: number; text: string; message: string }[] = [];
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const name = nameIn(line);
    if (name === '') continue;
    const parsed = name.length > maxLineLength ? tooLong : parseDomain(name);
    if (parsed.ok) domains.add(parsed.domain);
    else rejected.push({ line: number, text: name.slice(0, 100), message: parsed.message });
  }
  return { domains: [...domains], rejected };
}

const tooLong = { ok: false, message: 'the line is too long for a domain name' } as const;

function nameIn(line: string): string {
  const text = line
    .replace(/^\uFEFF/, '')
    .replace(/(?:^|\s)#.*$/, '')
    .trim();
  const lastField = text.includes(',') ? text.slice(text.lastIndexOf(',') + 1).trim() : text;
  return lastField.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/[/?#].*$/, '');
}
