// A list of names as a reader drops or pastes it.

export interface GivenList {
  /** Of the file; undefined for pasted text. */
  readonly file: string | undefined;
  readonly content: string;
  readonly type: 'text/csv' | 'application/x-ndjson';
  /** Lines with names; an estimate for CSV with line breaks in cells. */
  readonly names: number;
  /** The columns of CSV with a header; empty for other lists. */
  readonly headers: readonly string[];
}

/** The limits of a look-up that is answered at once; longer lists are jobs. */
export const NAMES_AT_ONCE = 1_000;
const BYTES_AT_ONCE = 250_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Rows that one request of the quota pays for. */
const ROWS_PER_REQUEST = 100;

export const isShort = ({ names, content }: GivenList): boolean =>
  names <= NAMES_AT_ONCE && content.length <= BYTES_AT_ONCE;

/** Requests of the quota: a job and its state cost some more. */
export const costOf = (list: GivenList): number =>
  Math.max(1, Math.ceil(list.names / ROWS_PER_REQUEST)) + (isShort(list) ? 0 : 2);

export function listOf(content: string, file?: string): GivenList {
  const lines = content.split(/\r?\n/).filter((line) => line.trim() !== '');
  const isNdjson = /\.(?:ndjson|jsonl)$/i.test(file ?? '') || /^\s*[{"]\S*"?\s*[:}]/.test(lines[0] ?? '');
  const hasHeader = !isNdjson && lines.length > 1 && !lines[0]?.includes('.');
  return {
    ...{ file, content },
    type: isNdjson ? 'application/x-ndjson' : 'text/csv',
    names: lines.length - (hasHeader ? 1 : 0),
    headers: (hasHeader ? (lines[0] ?? '') : '')
      .split(/[,;\t]/)
      .map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'))
      .filter(Boolean),
  };
}

/** Throws an Error with a message for the reader. */
export async function readFile(file: File): Promise<GivenList> {
  if (file.size > MAX_BYTES) throw new Error('The file is larger than 64 MiB. Split it.');
  return listOf(textOf(new Uint8Array(await file.arrayBuffer())), file.name);
}

/** By its byte order mark UTF-16, as spreadsheets write "Unicode text"; otherwise UTF-8. */
function textOf(bytes: Uint8Array): string {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  return new TextDecoder(mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8').decode(bytes);
}
