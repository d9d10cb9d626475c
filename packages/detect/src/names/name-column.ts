// How a list of domains in CSV is read: its delimiter, and the column with the names.
import { hostOfUrl, parseDomain } from './names.ts';

/** The headers of such a column, the surest first. */
const HEADERS = ['domain', 'website', 'web', 'homepage', 'url', 'hostname', 'host'];

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
 * By the first two rows: the column with one of `HEADERS`; else the first one with a domain in the first or second row, an e-mail address
 * only if there is nothing else; else the first one. A first row without a dot is a header too.
 */
export function nameColumn([first = [], second = []]: readonly (readonly string[])[]): NameColumn {
  const cells = first.map((cell) => cell.trim().toLowerCase());
  const headed = HEADERS.map((header) => cells.indexOf(header)).find((at) => at >= 0);
  if (headed !== undefined) return { column: headed, hasHeader: true };
  const columnOf = (isFitting: (cell: string) => boolean) =>
    [first, second].map((row) => row.findIndex(isFitting)).find((at) => at >= 0);
  const isNamed = (cell: string) => parseDomain(hostIn(cell)).ok;
  const column = columnOf((cell) => !cell.includes('@') && isNamed(cell)) ?? columnOf(isNamed) ?? 0;
  return { column, hasHeader: !cells.some((cell) => cell.includes('.')) };
}

/**
 * The host in a name, URL or e-mail address as people write them: `https://example.com/about`, `example.com/about`,
 * `//example.com/about`, `info@example.com`, `mailto:info@example.com`, `Ann <info@example.com>`. Other text is returned unchanged.
 */
export function hostIn(text: string): string {
  const trimmed = text.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)) return hostOfUrl(trimmed) ?? text;
  if (trimmed.startsWith('//')) return hostOfUrl(`https:${trimmed}`) ?? text;
  // RFC 5322 §3.4: a display name, and the address in angle brackets.
  const open = trimmed.endsWith('>') ? trimmed.lastIndexOf('<') : -1;
  if (open >= 0) return hostIn(trimmed.slice(open + 1, -1));
  const host = trimmed.split(/[/?#]/, 1)[0] ?? '';
  const [mailbox, domain, ...more] = host.replace(/^mailto:/i, '').split('@');
  return mailbox && domain !== undefined && more.length === 0 ? domain : host;
}
