// All leaves of a ledger and its newest checkpoint, as the tables of a database or the tiles of a service have them.
import type { Sql } from './database.ts';

export interface Ledger {
  readonly leaves: readonly Buffer[];
  /** The signed note. */
  readonly checkpoint: string;
}

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

export async function ledgerInTables(sql: Sql): Promise<Ledger> {
  // Read first, so that it covers no more than the leaves.
  const [head] = await sql('select note from ledger_head');
  const rows = await sql('select leaf_index, leaf from ledger_leaves order by leaf_index');
  const gap = rows.findIndex(({ leaf_index }, index) => leaf_index !== index);
  if (gap >= 0) throw new RangeError(`there is no leaf ${gap}`);
  return { leaves: rows.map(({ leaf }) => Buffer.from(leaf as Uint8Array)), checkpoint: String(head?.note) };
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
