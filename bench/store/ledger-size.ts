// Bytes of a receipt in the ledger: with a leaf for each, as now, and with a leaf for an epoch of many, whose hashes are a Merkle tree
// of their own. Of an epoch the ledger keeps the leaf hashes and an index of ids: each receipt can be looked up and proved, not read.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { createTable, jsonRows, openDatabase } from '@strata/db';
import {
  createLedgerTables,
  type LedgerDatabase,
  type Log,
  ledgerTablesIn,
  openLedgerFile,
  openLog,
  publishLog,
} from '@strata/log';
import * as receipts from '@strata/receipts';
import { type Kysely, sql } from 'kysely';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Figure, median, setting, timesOf } from '../measure.ts';

const RECEIPTS = setting('LEAVES', 200_000);
/** An epoch of a commit, and of half a second at 10,000 receipts a second. */
const EPOCHS = [64, 5_000] as const;
/** Digest, signature, time and random part of the id: what differs from leaf to leaf; the rest can be restored. */
const PACKED_LEAF = 32 + 64 + 16;
/** A tile of them. */
const PACKED = 256;
const AT_ONCE = 4_096;
/** Of an id in the index: 8 bytes of the hash, 4 of the number of its epoch. */
const INDEX_ENTRY = 12;
const INDEX_CHUNK = 4_096 * INDEX_ENTRY;

const ORIGIN = 'bench.example/ledger';
const { privateKey } = generateKeyPairSync('ed25519');
const publicKey = receipts.decodeBase64Url(privateKey.export({ format: 'jwk' }).x ?? '') ?? new Uint8Array();
const signer = { publicKey, sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
const keys = { signer, publicKeys: () => [publicKey], reload: async () => false };

/** A leaf as every answer has one, of random content. */
function newLeaf(): Uint8Array {
  const signature = `ed25519:${randomBytes(64).toString('base64')}`;
  const receipt_id = receipts.newReceiptId(new Date(), randomBytes(10));
  const key_id = 'UDDReOZl1ipXAfp9wYsm13sDBMK5og--QWdBjzuf6o4';
  return receipts.leafOf(randomBytes(256), { key_id, receipt_id, signature, signed_at: new Date().toISOString() });
}

export async function benchLedgerSize(): Promise<Figure[]> {
  const figures = await inSqlite();
  if (!binaries) return [...figures, ['PostgreSQL', 'skipped', notice]];
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB' });
  return [...figures, ...(await inPostgres(() => server.fresh()))];
}

async function inSqlite(): Promise<Figure[]> {
  await using folder = await temporaryDirectory();
  const file = `${folder.path}/ledger.db`;
  const figures: Figure[] = [];
  {
    await using tables = await openLedgerFile(file);
    await using log = await openLog({ origin: ORIGIN, keys, table: tables.log });
    figures.push(await withLeaves(log));
    const verifiers = [receipts.noteVerifier(ORIGIN, publicKey)];
    await publishLog({ read: (path) => log.read(path), directory: `${folder.path}/copy`, origin: ORIGIN, verifiers });
  }
  figures.push(['SQLite, a leaf for each', perReceipt((await stat(file)).size)]);
  figures.push(['static copy, a leaf for each', perReceipt(await bytesBelow(`${folder.path}/copy`))]);
  for (const size of EPOCHS) {
    const own = `${folder.path}/epochs-${size}.db`;
    const rest = await withEpochs(`sqlite:${own}`, size);
    figures.push([`SQLite, epochs of ${size}`, perReceipt((await stat(own)).size)], ...rest);
  }
  const packed = `${folder.path}/packed.db`;
  await withEpochs(`sqlite:${packed}`, PACKED, { packs: true });
  figures.push([`SQLite, ${PACKED} packed leaves in a row`, perReceipt((await stat(packed)).size)]);
  return figures;
}

async function inPostgres(fresh: () => Promise<string>): Promise<Figure[]> {
  const figures: Figure[] = [];
  const { db } = await openDatabase<Tables>(await fresh(), MIGRATIONS);
  {
    await using log = await openLog({ origin: ORIGIN, keys, table: ledgerTablesIn(db).log });
    await appendAll(log);
    figures.push(['PostgreSQL, a leaf for each', perReceipt(await bytesOf(db))]);
  }
  await db.destroy();
  const measured = async (what: string, size: number, packs: boolean) => {
    const then = async (db: Kysely<Tables>) => void figures.push([what, perReceipt(await bytesOf(db))]);
    await withEpochs(await fresh(), size, { packs, then });
  };
  for (const size of EPOCHS) await measured(`PostgreSQL, epochs of ${size}`, size, false);
  await measured(`PostgreSQL, ${PACKED} packed leaves in a row`, PACKED, true);
  return figures;
}

/** All receipts with a leaf each; returns the size and the time of a proof. */
async function withLeaves(log: Log): Promise<Figure> {
  const leaves = await appendAll(log);
  const documents: string[] = [];
  const times = await timesOf(20, async (run) => {
    const id = receipts.ledgerReceiptIdOf(receipts.leafHash(leaves[run * 500] ?? newLeaf()));
    documents.push(JSON.stringify(await log.receipt(id)));
  });
  return proofFigure('proof of a leaf', documents, times);
}

const proofFigure = (what: string, documents: readonly string[], times: readonly number[]): Figure => {
  const bytes = median(documents.map(({ length }) => length));
  return [what, `${bytes} bytes`, `${median(times).toFixed(2)} ms; goal < 2 KB`];
};

interface Tables extends LedgerDatabase {
  readonly epochs: { readonly leaf_index: number; readonly kept: Uint8Array };
  readonly epoch_index: { readonly chunk: number; readonly entries: Uint8Array };
}

const MIGRATIONS = {
  '001-ledger': createLedgerTables,
  '002-epochs': async (db: Kysely<unknown>) => {
    for (const [name, key, bytes] of [
      ['epochs', 'leaf_index', 'kept'],
      ['epoch_index', 'chunk', 'entries'],
    ] as const) {
      const keyed = createTable(db, name).addColumn(key, 'integer', (column) => column.primaryKey());
      await keyed.addColumn(bytes, 'blob', (column) => column.notNull()).execute();
    }
  },
};

/** All receipts in epochs of one size; returns the size and the time of a proof, verified in both of its parts. */
async function withEpochs(
  url: string,
  size: number,
  { packs = false, then }: { packs?: boolean; then?: (db: Kysely<Tables>) => Promise<void> } = {},
): Promise<Figure[]> {
  const { db } = await openDatabase<Tables>(url, MIGRATIONS);
  try {
    await using log = await openLog({ origin: ORIGIN, keys, table: ledgerTablesIn(db).log });
    const index: Buffer[] = [];
    let last: readonly Uint8Array[] = [];
    for (let number = 0; number * size < RECEIPTS; number += 1) {
      const hashes = Array.from({ length: Math.min(size, RECEIPTS - number * size) }, () =>
        receipts.leafHash(newLeaf()),
      ).sort(Buffer.compare);
      last = hashes;
      await log.append(await epochLeaf(hashes));
      const kept = packs ? randomBytes(PACKED_LEAF * hashes.length) : Buffer.concat(hashes);
      await db.insertInto('epochs').values({ leaf_index: number, kept }).execute();
      const epoch = Buffer.alloc(4);
      epoch.writeUInt32BE(number);
      for (const hash of hashes) index.push(Buffer.concat([hash.subarray(0, 8), epoch]));
    }
    await writeIndex(db, index.sort(Buffer.compare));
    await then?.(db);
    const documents: string[] = [];
    const times = await timesOf(20, async (run) => {
      documents.push(await epochProof(log, last, run));
    });
    return [proofFigure(`proof in an epoch of ${size}`, documents, times)];
  } finally {
    await db.destroy();
  }
}

/** As after merging: one sorted run, in chunks that a search by id reads one of. */
async function writeIndex(db: Kysely<Tables>, sorted: readonly Buffer[]): Promise<void> {
  const all = Buffer.concat(sorted);
  const chunks = Array.from({ length: Math.ceil(all.length / INDEX_CHUNK) }, (_, chunk) => [
    chunk,
    all.subarray(chunk * INDEX_CHUNK, (chunk + 1) * INDEX_CHUNK).toString('hex'),
  ]);
  const rows = jsonRows(db, chunks, { chunk: 'integer', entries: 'blob' });
  await sql`insert into epoch_index (chunk, entries) select chunk, entries from ${rows} as new`.execute(db);
}

const treeOf = (hashes: readonly Uint8Array[]): receipts.HashReader => {
  const read = (level: number, index: number): Uint8Array =>
    level === 0
      ? (hashes[index] ?? receipts.EMPTY_ROOT)
      : receipts.nodeHash(read(level - 1, 2 * index), read(level - 1, 2 * index + 1));
  return read;
};

async function epochLeaf(hashes: readonly Uint8Array[]): Promise<Uint8Array> {
  const root = receipts.encodeHex(await receipts.treeRoot(treeOf(hashes), hashes.length));
  return new TextEncoder().encode(receipts.canonicalize({ epoch_root: root, receipts: hashes.length }));
}

/** The document that a client would get; throws unless both parts verify. */
async function epochProof(log: Log, hashes: readonly Uint8Array[], index: number): Promise<string> {
  const leaf = await epochLeaf(hashes);
  const root = await receipts.treeRoot(treeOf(hashes), hashes.length);
  const proof = await receipts.inclusionProof(treeOf(hashes), index, hashes.length);
  const leafHash = hashes[index] ?? receipts.EMPTY_ROOT;
  const document = await log.receipt(receipts.ledgerReceiptIdOf(receipts.leafHash(leaf)));
  const isProved = receipts.verifyInclusion({ leafHash, index, size: hashes.length, proof, root });
  if (!document || !isProved) throw new Error('a receipt is not proved by its epoch');
  const epoch = { index, size: hashes.length, proof: proof.map(receipts.encodeBase64) };
  return JSON.stringify({ ...document, ledger_receipt_id: receipts.ledgerReceiptIdOf(leafHash), epoch });
}

async function appendAll(log: Log): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  while (all.length < RECEIPTS) {
    const leaves = Array.from({ length: Math.min(RECEIPTS - all.length, AT_ONCE) }, newLeaf);
    await Promise.all(leaves.map((leaf) => log.append(leaf)));
    all.push(...leaves);
  }
  return all;
}

const perReceipt = (bytes: number): string => `${(bytes / RECEIPTS).toFixed(1)} bytes a receipt`;

async function bytesOf(db: Kysely<Tables>): Promise<number> {
  const tables = sql`('ledger_leaves', 'ledger_subtrees', 'epochs', 'epoch_index')`;
  const { rows } = await sql<{ readonly bytes: number }>`
    select sum(pg_total_relation_size(oid)) as bytes from pg_class where relname in ${tables} and relkind = 'r'
      and relnamespace = current_schema()::regnamespace`.execute(db);
  return rows[0]?.bytes ?? Number.NaN;
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (file) => (await stat(`${file.parentPath}/${file.name}`)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
