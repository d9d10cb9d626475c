// Checks the ledger of a service, which may be running, for damage: leaves, hashes, the signed checkpoint, and the receipts that the
// store refers to. Only reads, a few hundred leaves at a time.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { StoreError, type StoreReport } from '@strata/db';
import {
  CheckedLeaves,
  checkSharedLog,
  KeyringError,
  LogError,
  type LogErrorCode,
  type PublicKeys,
  publicKeyBytes,
  publishedLedgerKeys,
  readCheckpoint,
  readPublicKeys,
  receiptIdsOf,
} from '@strata/log';
import { noteVerifier, openNote, tilePath } from '@strata/receipts';
import type { Config } from '@strata/stack';
import { type LedgerTables, openLedgerTables, publishedReceipts } from '@strata/stack/store';
import { isOpenLog, openLedgerSource } from '../../backup/ledger-source.ts';

const KEYS = 'Run this with the newest keys folder of the service (STRATA_DATA).';
const KEEP =
  'Do not change the database and the data directories; see "The ledger fails" and "Restore" in docs/operations.md. A published ledger must not be rewritten.';
const ADVICE: Partial<Record<LogErrorCode, string>> = {
  'wrong-key': KEYS,
  'wrong-origin': 'Check STRATA_LEDGER_ORIGIN.',
};

/** The counterpart of `checkStore` for the ledger. The check of leaves and hashes ends at the first damage. */
export async function checkLedger(config: Config): Promise<StoreReport> {
  const checks: string[] = [];
  const findings: StoreReport['findings'][number][] = [];
  try {
    // The store is read first: a leaf is durable before the store refers to its receipt.
    const missing = new Set(await publishedReceipts(config.databaseUrl));
    const published = missing.size;
    const onLeaves = (leaves: readonly Uint8Array[]) => {
      if (missing.size > 0) for (const id of receiptIdsOf(leaves)) missing.delete(id);
    };
    const { ledger: own } = await readPublicKeys(config.dataDirectory);
    const leaves = await checkTree(config, { own, onLeaves });
    if (leaves === undefined && published === 0) return { checks, findings };
    checks.push(`ledger of ${leaves ?? 'no'} leaves`, `latest receipts of the store (${published})`);
    const [example] = missing;
    if (example !== undefined)
      findings.push({
        what: `The ledger does not have ${missing.size} of the ${published} latest receipts of the store, such as ${example}.`,
        advice: `Check that STRATA_DATA is the directory of the service that uses this database. ${KEEP}`,
      });
  } catch (error) {
    if (error instanceof LogError)
      findings.push({ what: `The ledger: ${error.message}.`, advice: ADVICE[error.code] ?? KEEP });
    else if (error instanceof KeyringError) findings.push({ what: `The ledger keys: ${error.message}.`, advice: KEYS });
    else if (error instanceof StoreError)
      findings.push({ what: `The ledger: ${error.message}`, advice: 'The check of the ledger is incomplete.' });
    else throw error;
  }
  return { checks, findings };
}

interface TreeOptions {
  /** Checkpoint keys of the data directory. */
  readonly own: PublicKeys['ledger'];
  readonly onLeaves: (leaves: readonly Uint8Array[]) => void;
}

/** The number of leaves; undefined where there is no ledger yet. */
async function checkTree(config: Config, options: TreeOptions): Promise<number | undefined> {
  const { databaseUrl, dataDirectory } = config;
  await using tables = databaseUrl.startsWith('sqlite:') ? undefined : await openLedgerTables(databaseUrl);
  if (tables && !isOpenLog(path.join(dataDirectory, 'ledger')))
    return (await tables.log.head()) && (await checkTables(config, tables, options));
  return checkFolder(config, options);
}

async function checkTables(
  { ledgerOrigin: origin }: Config,
  { log, keys }: LedgerTables,
  { own, onLeaves }: TreeOptions,
) {
  const publicKeys = publicKeyBytes(await publishedLedgerKeys(own, { origin, texts: await keys.all() }));
  const rows = {
    hashes: (level: number, from: number, count: number) => log.hashes(level, from, count),
    find: (prefix: Uint8Array) => log.find(prefix),
    async leaves(from: number, count: number) {
      const leaves = await log.leaves(from, count);
      onLeaves(leaves);
      return leaves;
    },
  };
  const report = await checkSharedLog({
    origin,
    keys: { publicKeys: () => publicKeys },
    storage: { heads: log, rows },
  });
  return report.size;
}

/** A tile that is not written yet is not damage: its leaves are in the journal. */
async function checkFolder(config: Config, { own, onLeaves }: TreeOptions): Promise<number | undefined> {
  await using source = await openLedgerSource(config);
  const { note } = source;
  const directory = path.join(config.dataDirectory, 'ledger');
  if (note === undefined) {
    if (isOpenLog(directory))
      throw new LogError('corrupt-checkpoint', 'there are leaves but no checkpoint that covers them');
    return undefined;
  }
  const verifiers = publicKeyBytes(own).map((key) => noteVerifier(config.ledgerOrigin, key));
  // The source has the newer of the checkpoints of the folder and the store.
  for (const each of new Set([note, (await readCheckpoint(directory)) ?? note])) {
    const opened = await openNote(each, verifiers);
    if (!opened.ok)
      throw new LogError('wrong-key', `the checkpoint is not signed by a key of this directory: ${opened.problem}`);
  }
  const checked = new CheckedLeaves(note);
  const tiles: Parameters<NonNullable<Parameters<CheckedLeaves['through']>[1]>>[0][] = [];
  for await (const leaves of checked.through(source.leaves(), (tile) => tiles.push(tile))) {
    onLeaves(leaves);
    for (const { address, bytes } of tiles.splice(0)) {
      const file = path.join(directory, tilePath(address));
      const stored = await readFile(file).catch(ifThere);
      if (!stored || stored.equals(bytes)) continue;
      const { level, index, width } = address;
      const leavesIn =
        level === 0 ? path.join('ledger', tilePath({ level: 'entries', index, width })) : 'the leaves below';
      throw new LogError(
        'corrupt-tile',
        `${file} does not match the hashes of its leaves: it or ${leavesIn} is damaged`,
      );
    }
  }
  return checked.digest.leaves;
}

function ifThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw new LogError('io', error.message, { cause: error });
}
