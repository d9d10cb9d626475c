// Checks the ledger of a service, which may be running, for damage: leaves, hashes, the signed checkpoint, and the receipts that the
// store refers to. Only reads, a few hundred leaves at a time.
import { StoreError, type StoreReport } from '@strata/db';
import {
  CheckedLeaves,
  checkLog,
  checkPublished,
  checkpointIn,
  isLedgerDirectory,
  KeyringError,
  type LedgerTables,
  LogError,
  type LogErrorCode,
  ledgerIn,
  openLedgerTables,
  type PublicKeys,
  publicKeyBytes,
  publishedLedgerKeys,
  readDirectoryLog,
  readPublicKeys,
  receiptIdsOf,
} from '@strata/log';
import type { Config } from '@strata/stack';
import { ledgerCheckpointIn, publishedReceipts } from '@strata/stack/store';
import { openLedgerSource, openOwnNote } from '../../backup/ledger-source.ts';

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
  const { databaseUrl, dataDirectory, ledgerOrigin } = config;
  const directory = ledgerIn(dataDirectory);
  await using tables = databaseUrl.startsWith('sqlite:') ? undefined : await openLedgerTables(databaseUrl);
  if (tables && !isLedgerDirectory(directory)) return await checkTables(config, tables, options);
  const copy = ledgerCheckpointIn(databaseUrl, ledgerOrigin);
  await using own = await readDirectoryLog(directory);
  return own.tables ? await checkTables(config, own.tables, { ...options, copy }) : await checkLeaves(config, options);
}

async function checkTables(
  { ledgerOrigin: origin, dataDirectory }: Config,
  { log, keys }: LedgerTables,
  { own, onLeaves, copy }: TreeOptions & { readonly copy?: string | undefined },
): Promise<number | undefined> {
  const checkpointFile = checkpointIn(ledgerIn(dataDirectory));
  const saved = { checkpointFile, checkpointCopy: { read: async () => copy, write: async () => {} } };
  if (!(await log.head())) {
    await checkPublished(log, saved);
    return undefined;
  }
  const publicKeys = publicKeyBytes(await publishedLedgerKeys(own, { origin, texts: await keys.all() }));
  const table = {
    head: () => log.head(),
    hashes: (level: number, from: number, count: number) => log.hashes(level, from, count),
    find: (prefix: Uint8Array) => log.find(prefix),
    async leaves(from: number, count: number) {
      const leaves = await log.leaves(from, count);
      onLeaves(leaves);
      return leaves;
    },
  };
  const { size } = await checkLog({ origin, keys: { publicKeys: () => publicKeys }, table });
  await checkPublished(log, saved);
  return size;
}

/** A log that is not in rows: of an earlier version, or lost. */
async function checkLeaves(config: Config, { own, onLeaves }: TreeOptions): Promise<number | undefined> {
  await using source = await openLedgerSource(config);
  const { note } = source;
  if (note === undefined) {
    if (isLedgerDirectory(ledgerIn(config.dataDirectory)))
      throw new LogError('corrupt-checkpoint', 'there are leaves but no checkpoint that covers them');
    return undefined;
  }
  const opened = await openOwnNote(note, config.ledgerOrigin, own);
  if (!opened.ok)
    throw new LogError('wrong-key', `the checkpoint is not signed by a key of this directory: ${opened.problem}`);
  const checked = new CheckedLeaves(note);
  for await (const leaves of checked.through(source.leaves())) onLeaves(leaves);
  return checked.digest.leaves;
}
