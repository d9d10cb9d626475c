// A node of the ledger in a database: keeps a given number of appends in flight for a given time and reports how many were acknowledged.
import { createPrivateKey, randomBytes, sign } from 'node:crypto';
import { openLog } from '@strata/log';
import { decodeBase64Url } from '@strata/receipts';
import { openStore } from '@strata/stack/store';
import { childArgument, reportReady } from '../measure.ts';

export interface LedgerNodeOptions {
  readonly url: string;
  /** Private key, PKCS #8 in PEM. */
  readonly key: string;
  readonly leafBytes: number;
}

export interface LedgerRun {
  readonly concurrency: number;
  readonly runMs: number;
}

export interface LedgerRunResult {
  readonly leaves: number;
  readonly commits: number;
  /** Of one append each, milliseconds. */
  readonly latencies: readonly number[];
}

const { url, key, leafBytes } = childArgument<LedgerNodeOptions>();
const privateKey = createPrivateKey(key);
const publicKey = decodeBase64Url(privateKey.export({ format: 'jwk' }).x ?? '') ?? new Uint8Array();
const store = await openStore(url, { poolSize: 4 });
if (!store.ledger) throw new Error('the ledger of several nodes needs PostgreSQL');
const log = await openLog({
  origin: 'bench.example/ledger',
  keys: {
    signer: { publicKey, sign: (bytes) => sign(null, bytes, privateKey) },
    publicKeys: () => [publicKey],
    reload: async () => false,
  },
  table: store.ledger.log,
});

process.on('message', async ({ concurrency, runMs }: LedgerRun) => {
  const startedAt = performance.now();
  const before = log.stats().commits;
  const latencies: number[] = [];
  const worker = async () => {
    while (performance.now() - startedAt < runMs) {
      const appendedAt = performance.now();
      await log.append(randomBytes(leafBytes));
      latencies.push(performance.now() - appendedAt);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const kept = latencies.length > 10_000 ? [] : latencies;
  const result: LedgerRunResult = { leaves: latencies.length, commits: log.stats().commits - before, latencies: kept };
  process.send?.(result);
});
reportReady({}, async () => {
  await log[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});
