// All leaves of a ledger and its newest checkpoint, as a folder, the tables of a database, or the tiles of a service have them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Sql } from './database.ts';

export interface Ledger {
  readonly leaves: readonly Buffer[];
  /** The signed note. */
  readonly checkpoint: string;
}

/** Of a record of the journal: magic, bytes of the payload, index of the first leaf, leaves, CRC-32. */
const RECORD_HEADER_BYTES = 24;

/** Entries after their lengths in 16 bits (c2sp.org/tlog-tiles). @throws RangeError where bytes are missing. */
function entriesOf(bundle: Buffer): Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0; at < bundle.length; ) {
    const end = at + 2 + bundle.readUInt16BE(at);
    if (end > bundle.length) throw new RangeError('an entry is cut off');
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  return entries;
}

/** Path of the n-th bundle of 256 entries. */
function bundlePath(index: number): string {
  const groups =
    String(index)
      .padStart(Math.ceil(String(index).length / 3) * 3, '0')
      .match(/\d{3}/g) ?? [];
  return `tile/entries/${groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/')}`;
}

/** Full bundles, and what the journal has after them; a torn record at its end was never acknowledged. */
export function ledgerInFolder(directory: string): Ledger {
  const read = (name: string) => readFileSync(path.join(directory, name));
  // In the opposite order of writing, so that a service at work cannot move leaves out of what is read later.
  const checkpoint = read('checkpoint').toString();
  const records: { readonly first: number; readonly entries: readonly Buffer[] }[] = [];
  for (const segment of readdirSync(path.join(directory, 'journal')).sort()) {
    const bytes = read(`journal/${segment}`);
    for (let at = 0, end = 0; at + RECORD_HEADER_BYTES <= bytes.length; at = end) {
      end = at + RECORD_HEADER_BYTES + bytes.readUInt32BE(at + 4);
      if (end > bytes.length) break;
      const entries = entriesOf(bytes.subarray(at + RECORD_HEADER_BYTES, end));
      records.push({ first: Number(bytes.readBigUInt64BE(at + 8)), entries });
    }
  }
  const leaves: Buffer[] = [];
  for (let index = 0; existsSync(path.join(directory, bundlePath(index))); index += 1)
    leaves.push(...entriesOf(read(bundlePath(index))));
  for (const { first, entries } of records) {
    if (first > leaves.length) throw new RangeError(`leaves ${leaves.length} to ${first} are in no file`);
    leaves.push(...entries.slice(leaves.length - first));
  }
  return { leaves, checkpoint };
}

export async function ledgerInTables(sql: Sql): Promise<Ledger> {
  const [head] = await sql('select note from ledger_head');
  const rows = await sql('select leaf_index, leaf from ledger_leaves order by leaf_index');
  const gap = rows.findIndex(({ leaf_index }, index) => leaf_index !== index);
  if (gap >= 0) throw new RangeError(`there is no leaf ${gap}`);
  return { leaves: rows.map(({ leaf }) => leaf as Buffer), checkpoint: String(head?.note) };
}

/** The tiles that a service serves under `/ledger/`. */
export async function ledgerServed(base: string): Promise<Ledger> {
  const get = async (name: string) => {
    const response = await fetch(`${base}/ledger/${name}`);
    if (response.status !== 200) throw new RangeError(`${name} is answered by ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  };
  const checkpoint = (await get('checkpoint')).toString();
  const size = Number(checkpoint.split('\n')[1]);
  const leaves: Buffer[] = [];
  while (leaves.length < size) {
    const width = Math.min(256, size - leaves.length);
    leaves.push(...entriesOf(await get(`${bundlePath(leaves.length / 256)}${width < 256 ? `.p/${width}` : ''}`)));
  }
  return { leaves, checkpoint };
}
