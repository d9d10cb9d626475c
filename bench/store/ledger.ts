// Durable leaves a second in a SQLite file, against one write and fdatasync for each leaf: what a log without group commit would do.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { openLedgerFile, openLog } from '@strata/log';
import { decodeBase64Url } from '@strata/receipts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Figure, median, perSecond, rateAtOnce } from '../measure.ts';
import { benchLedgerNodes } from './ledger-nodes.ts';

const RUN_MS = 2_000;
const RUNS = 3;
/** About the size of a receipt's leaf. */
const LEAF_BYTES = 380;

export async function benchLedger(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const rows = [];
  for (const concurrency of [1, 64, 512]) {
    const runs = [];
    for (let i = 0; i < RUNS; i += 1) {
      const log = await logRate(path.join(directory.path, `log-${concurrency}-${i}.db`), concurrency);
      const plain = await plainRate(path.join(directory.path, `plain-${concurrency}-${i}`));
      runs.push({ log, ratio: log / plain });
    }
    rows.push({
      what: `durable leaves, ${concurrency} at once`,
      value: perSecond(median(runs.map((run) => run.log))),
      against: `${median(runs.map((run) => run.ratio)).toFixed(1)} × one fdatasync a leaf${concurrency > 1 ? '; goal 10,000/s' : ''}`,
    });
  }
  return [...rows, ...(await benchLedgerNodes(LEAF_BYTES))];
}

async function logRate(file: string, concurrency: number): Promise<number> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKey = decodeBase64Url(privateKey.export({ format: 'jwk' }).x ?? '');
  if (!publicKey) throw new Error('make a key');
  const signer = { publicKey, sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
  const keys = { signer, publicKeys: () => [publicKey], reload: async () => false };
  await using tables = await openLedgerFile(file);
  await using log = await openLog({ origin: 'bench.example/ledger', keys, table: tables.log });
  return await rateAtOnce(concurrency, RUN_MS, () => log.append(randomBytes(LEAF_BYTES)));
}

async function plainRate(file: string): Promise<number> {
  await using handle = await open(file, 'a');
  return await rateAtOnce(1, RUN_MS, async () => {
    await handle.write(randomBytes(LEAF_BYTES));
    await handle.datasync();
  });
}
