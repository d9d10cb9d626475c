// How a list of domains in CSV is read: its delimiter, and the column with the names.
import { hostOfUrl, parseDomain } from './names.ts';

/** The headers of such a column, the surest first. */
const HEADERS = ['domain', 'website', 'url', 'hostname', 'host'];

const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** The most frequent one in the first row; spreadsheets write semicolons where the comma is the decimal sign. */
export function delimiterOf(row: string): Delimiter {
  const unquoted = row.replace(/"[^"]*"/g, '');
  const [first] = DELIMITERS.toSorted((a, b) => unquoted.split(b).length - unquoted.split(a).length);
  return first ?? ',';
}

export interface NameColumn {
  readonly column: number;
  readonly hasHeader: boolean;
}

/**
 * By the first two rows: the column with the header `domain`, `website`, `url`, `hostname` or `host`; else the first one with a domain in the
 * first or second row; else the first one. A first row without a dot is a header too.
 */
export function nameColumn([first = [], second = []]: readonly (readonly string[])[]): NameColumn {
  const cells = first.map((cell) => cell.trim().toLowerCase());
  const headed = HEADERS.map((header) => cells.indexOf(header)).find((at) => at >= 0);
  if (headed !== undefined) return { column: headed, hasHeader: true };
  const named = [first, second].map((row) => row.findIndex((cell) => parseDomain(hostIn(cell)).ok));
  return { column: named.find((at) => at >= 0) ?? 0, hasHeader: !cells.some((cell) => cell.includes('.')) };
}

/**
 * The host in a name, URL or e-mail address as people write them: `https://example.com/about`, `example.com/about`,
 * `info@example.com`, `mailto:info@example.com`. Other text is returned unchanged.
 */
export function hostIn(text: string): string {
  const trimmed = text.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)) return hostOfUrl(trimmed) ?? text;
  const host = trimmed.split(/[/?#]/, 1)[0] ?? '';
  const [mailbox, domain, ...more] = host.replace(/^mailto:/i, '').split('@');
  return mailbox && domain !== undefined && more.length === 0 ? domain : host;
}
