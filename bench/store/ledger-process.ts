// A node of the ledger, in a file or a database: appends leaves, a given number at once for a given time, and says how many a second are durable.
import { createPrivateKey, randomBytes, sign } from 'node:crypto';
import { openLedgerFile, openLog } from '@strata/log';
import { decodeBase64Url } from '@strata/receipts';
import { openStore } from '@strata/stack/store';
import { childArgument, rateAtOnce, reportReady } from '../measure.ts';

export interface LedgerNodeOptions {
  /** A file of SQLite, or the URL of a database in PostgreSQL. */
  readonly file?: string;
  readonly url?: string;
  /** Private key, PKCS #8 in PEM. */
  readonly key: string;
  readonly leafBytes: number;
}

export interface LedgerRun {
  readonly concurrency: number;
  readonly runMs: number;
}

const { file = '', url, key, leafBytes } = childArgument<LedgerNodeOptions>();
const privateKey = createPrivateKey(key);
const publicKey = decodeBase64Url(privateKey.export({ format: 'jwk' }).x ?? '') ?? new Uint8Array();
const signer = { publicKey, sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
const keys = { signer, publicKeys: () => [publicKey], reload: async () => false };
const stack = new AsyncDisposableStack();
const store = url === undefined ? undefined : stack.use(await openStore(url, { poolSize: 4 }));
const table = (store?.ledger ?? stack.use(await openLedgerFile(file))).log;
const log = stack.use(await openLog({ origin: 'bench.example/ledger', keys, table }));

process.on('message', async ({ concurrency, runMs }: LedgerRun) =>
  process.send?.(await rateAtOnce(concurrency, runMs, () => log.append(randomBytes(leafBytes)))),
);
reportReady({}, () => stack.disposeAsync());
