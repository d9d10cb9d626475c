// Damage looked for in the ledger of a service that may run: every leaf, the hashes above them, the signed checkpoint, and the receipts
// that the store tells of. Only reads, some hundred leaves at a time.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  CheckedLeaves,
  checkSharedLog,
  KeyringError,
  LogError,
  type LogErrorCode,
  ledgerKeysTold,
  type PublicKeys,
  publicKeyBytes,
  readCheckpoint,
  readPublicKeys,
  receiptIdsOf,
} from '@strata/log';
import { noteVerifier, openNote, tilePath } from '@strata/receipts';
import type { Config } from '@strata/stack';
import { type LedgerTables, openLedgerTables, publishedReceipts, StoreError, type StoreReport } from '@strata/store';
import { isOpenLog, openLedgerSource } from '../../backup/ledger-source.ts';

const KEYS = 'Run this where the newest keys folder of the service is (STRATA_DATA).';
const KEEP =
  'Keep database and data directories as they are, and read "The ledger fails" and "Restore" in docs/operations.md: a ledger that was published must not be rewritten.';
const ADVICE: Partial<Record<LogErrorCode, string>> = {
  'wrong-key': KEYS,
  'wrong-origin': 'Look at STRATA_LEDGER_ORIGIN.',
};

/** As `checkStore` reports of the database. What is found first in leaves and hashes ends the look at them. */
export async function checkLedger(config: Config): Promise<StoreReport> {
  const checks: string[] = [];
  const findings: StoreReport['findings'][number][] = [];
  try {
    // Read first: a leaf is durable before anything tells of its receipt.
    const missing = new Set(await publishedReceipts(config.databaseUrl));
    const told = missing.size;
    const hear = (leaves: readonly Uint8Array[]) => {
      if (missing.size > 0) for (const id of receiptIdsOf(leaves)) missing.delete(id);
    };
    const { ledger: own } = await readPublicKeys(config.dataDirectory);
    const leaves = await checkTree(config, { own, hear });
    if (leaves === undefined && told === 0) return { checks, findings };
    checks.push(`ledger of ${leaves ?? 'no'} leaves`, `receipts told of last (${told})`);
    const [example] = missing;
    if (example !== undefined)
      findings.push({
        what: `The ledger lacks ${missing.size} of the ${told} receipts that the store told of last, ${example} among them.`,
        advice: `Is STRATA_DATA the directory of the service that uses this database? ${KEEP}`,
      });
  } catch (error) {
    if (error instanceof LogError)
      findings.push({ what: `The ledger: ${error.message}.`, advice: ADVICE[error.code] ?? KEEP });
    else if (error instanceof KeyringError)
      findings.push({ what: `The ledger's keys: ${error.message}.`, advice: KEYS });
    else if (error instanceof StoreError)
      findings.push({ what: `The ledger: ${error.message}`, advice: 'Nothing more of it could be looked at.' });
    else throw error;
  }
  return { checks, findings };
}

interface TreeParts {
  /** Keys of checkpoints that this directory has. */
  readonly own: PublicKeys['ledger'];
  readonly hear: (leaves: readonly Uint8Array[]) => void;
}

/** How many leaves there are; undefined where no ledger was begun yet. */
async function checkTree(config: Config, parts: TreeParts): Promise<number | undefined> {
  const { databaseUrl, dataDirectory } = config;
  await using tables = databaseUrl.startsWith('sqlite:') ? undefined : await openLedgerTables(databaseUrl);
  if (tables && !isOpenLog(path.join(dataDirectory, 'ledger')))
    return (await tables.log.head()) && (await checkTables(config, tables, parts));
  return checkFolder(config, parts);
}

async function checkTables({ ledgerOrigin: origin }: Config, { log, keys }: LedgerTables, { own, hear }: TreeParts) {
  const publicKeys = publicKeyBytes(await ledgerKeysTold(own, { origin, told: await keys.all() }));
  const rows = {
    hashes: (level: number, from: number, count: number) => log.hashes(level, from, count),
    find: (prefix: Uint8Array) => log.find(prefix),
    async leaves(from: number, count: number) {
      const leaves = await log.leaves(from, count);
      hear(leaves);
      return leaves;
    },
  };
  const report = await checkSharedLog({ origin, keys: { publicKeys: () => publicKeys }, place: { turns: log, rows } });
  return report.size;
}

/** Tiles that are not written yet are no finding: their leaves are in the journal. */
async function checkFolder(config: Config, { own, hear }: TreeParts): Promise<number | undefined> {
  await using source = await openLedgerSource(config);
  const { note } = source;
  const directory = path.join(config.dataDirectory, 'ledger');
  if (note === undefined) {
    if (isOpenLog(directory))
      throw new LogError('corrupt-checkpoint', 'there are leaves, and no checkpoint that covers them');
    return undefined;
  }
  const verifiers = publicKeyBytes(own).map((key) => noteVerifier(config.ledgerOrigin, key));
  // The source has the newest of the folder's and the store's.
  for (const each of new Set([note, (await readCheckpoint(directory)) ?? note])) {
    const opened = await openNote(each, verifiers);
    if (!opened.ok)
      throw new LogError('wrong-key', `the checkpoint is not signed by a key of this directory: ${opened.problem}`);
  }
  const checked = new CheckedLeaves(note);
  const tiles: Parameters<NonNullable<Parameters<CheckedLeaves['through']>[1]>>[0][] = [];
  for await (const leaves of checked.through(source.leaves(), (tile) => tiles.push(tile))) {
    hear(leaves);
    for (const { address, bytes } of tiles.splice(0)) {
      const file = path.join(directory, tilePath(address));
      const stored = await readFile(file).catch(ifThere);
      if (!stored || stored.equals(bytes)) continue;
      const { level, index, width } = address;
      const leavesIn =
        level === 0 ? path.join('ledger', tilePath({ level: 'entries', index, width })) : 'the leaves below';
      throw new LogError('corrupt-tile', `${file} is not what its leaves hash to: it or ${leavesIn} is damaged`);
    }
  }
  return checked.digest.leaves;
}

function ifThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw new LogError('io', error.message, { cause: error });
}
