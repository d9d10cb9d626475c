// A service's signing keys with its log: receipts are signed by the keys and stored in the log.
import { hash } from 'node:crypto';
import { randomPart } from '@strata/db';
import { makeDirectory } from '@strata/files';
import {
  type IssueOptions,
  type KeySet,
  keySetDocument,
  ledgerEntry,
  type PublicKeyEntry,
  type WitnessReport,
} from '@strata/receipts';
import type { CheckpointCopy } from './files/checkpoint-file.ts';
import { checkpointKeysOf, type Keyrings, openKeyrings, refuseWithoutKeys } from './keys/keyrings.ts';
import { LedgerKeys, publicKeyBytes } from './keys/ledger-keys.ts';
import { PublishedKeys } from './keys/published-keys.ts';
import { type Keyring, KeyringError, type KeyringSigner, outsideSpan } from './keys/signing-keys.ts';
import {
  checkpointIn,
  isLedgerDirectory,
  ledgerIn,
  type MoveOptions,
  moveLog,
  openDirectoryLog,
  refuseNewKey,
} from './ledger-directory.ts';
import type { Log } from './log.ts';
import { LogError } from './log-error.ts';
import { type CopiedLog, type CopyOptions, type CopyProgress, copyLeaves } from './rows/copy-leaves.ts';
import type { DatabaseLog } from './rows/database-log.ts';
import type { CheckpointKeys } from './rows/head.ts';
import type { KeyStorage, LedgerTables } from './rows/ledger-tables.ts';
import { openLog } from './rows/open-log.ts';
import { type LogWitnesses, WitnessedLog } from './witness/witnessed-log.ts';

export interface SignedLedgerOptions {
  /** Contains `keys/receipts`, `keys/ledger` and `ledger`. Existing keys may be read-only. */
  readonly directory: string;
  /** The log's permanent name in its checkpoints. */
  readonly origin: string;
  /** Path of the service's key set, as written in receipts. */
  readonly keySetPath: string;
  readonly now: () => Date;
  /** The log of several nodes, instead of one in the directory. All nodes have the same `keys/ledger`, the newest or the previous one. */
  readonly shared?: LedgerTables | undefined;
  /** Stores the newest checkpoint of a log in the directory a second time, outside of it. A shared log must extend it. */
  readonly checkpointCopy?: CheckpointCopy | undefined;
  /** Witnesses that cosign the log's checkpoints. */
  readonly witnesses?: LogWitnesses | undefined;
  /** Reports the import of a log of an earlier version, which may take minutes. */
  readonly logger?: ImportLog | undefined;
  /** Ends an import; the next start begins it again. */
  readonly signal?: AbortSignal | undefined;
}

interface ImportLog {
  info(fields: { readonly leaves: number }, message: string): void;
}

export interface SignedLedger extends AsyncDisposable {
  readonly log: Log;
  /**
   * The options to issue a receipt now: the current key, the time, and the given or a random id. Throws KeyringError if verifiers
   * would reject it: another node has retired the key, or the clock is outside the key's span.
   */
  issuing(receiptId?: string): IssueOptions & { readonly signer: Omit<KeyringSigner, 'publicKey'> };
  readonly signer: KeyringSigner;
  /** Current and retired keys of all nodes, and how to verify the log's checkpoints. */
  keySet(): KeySet;
  /** Why no receipt can be issued until an operator fixes it, as a sentence without a path; undefined if receipts can be signed. */
  problem(): string | undefined;
  /** Status of the witnesses; undefined without configured witnesses. */
  witnesses(): WitnessReport | undefined;
  /** When another node retired a key that this one signs with, ISO 8601; it still signs for `KEY_OVERLAP_MS`. */
  retiredAt(): string | undefined;
  /** Loads a rotation made by another process. */
  reload(): Promise<void>;
}

const OLD_KEYS = 'cannot sign: the keys were rotated on another node; give this one the newest keys folder';

/** For a given receipt id. */
const NO_RANDOM = new Uint8Array();

/** Opens both keyrings and the log, creating them on first start. Rejects with KeyringError or LogError. */
export async function openSignedLedger(options: SignedLedgerOptions): Promise<SignedLedger> {
  const { origin, keySetPath, now, checkpointCopy } = options;
  const folder = ledgerIn(options.directory);
  const keyrings = await openKeyrings(options.directory, now, () =>
    options.shared ? refuseWithoutKeys(options, options.shared.log) : refuseNewKey(folder),
  );
  const { receipts, checkpoints } = keyrings;
  await using opened = new AsyncDisposableStack();
  const { log, shared } = options.shared
    ? await openShared(options, options.shared, keyrings)
    : {
        log: await openDirectoryLog({
          ...{ ...directoryOptions(options, checkpoints), checkpointCopy, signal: options.signal },
          onProgress: options.logger && importLogger(options.logger),
        }),
      };
  opened.use(log);
  const ledgerKeys = () => shared?.ledgerKeys.entries ?? checkpoints.keys;
  const publicKeys = () => publicKeyBytes(ledgerKeys());
  const witnessed =
    options.witnesses && opened.use(await WitnessedLog.open({ ...options.witnesses, log, origin, publicKeys }));
  const clockProblem = () => {
    const [current] = receipts.keys;
    const problem = current && outsideSpan(current, now());
    return problem && `cannot sign: ${problem}`;
  };
  const refuseRetired = () => {
    shared?.published.refuseRetired(receipts.signer.keyId, now());
    shared?.ledgerKeys.refuseRetired();
  };
  /** Without a published rotation the key has signed until now: an earlier `not_after` would invalidate those receipts. */
  const usedUntilNow = (keys: readonly PublicKeyEntry[]) =>
    keys.map((key) => {
      const isOurs = key.kid === receipts.signer.keyId && key.not_after !== undefined;
      return isOurs ? { ...key, not_after: now().toISOString() } : key;
    });
  const owned = opened.move();
  return {
    log: witnessed ?? log,
    signer: receipts.signer,
    issuing(receiptId) {
      refuseRetired();
      const problem = clockProblem();
      if (problem !== undefined) throw new KeyringError(problem);
      return {
        signer: receipts.signer,
        now: now(),
        ...(receiptId === undefined ? { random: randomPart(16) } : { random: NO_RANDOM, receiptId }),
        publicKeyUrl: keySetPath,
        digest: (bytes) => hash('sha256', bytes, 'buffer'),
      };
    },
    keySet: () =>
      keySetDocument(
        shared?.published.entries ?? receipts.keys,
        publishedLedgerEntry(
          shared?.ledgerKeys ?? { entries: checkpoints.keys, rotations: checkpoints.rotations },
          origin,
        ),
      ),
    problem() {
      const clock = clockProblem();
      if (clock !== undefined) return clock;
      const { refusal } = (witnessed ?? log).stats();
      try {
        refuseRetired();
      } catch (error) {
        if (error instanceof KeyringError) return OLD_KEYS;
        throw error;
      }
      if (refusal) return refusal.code === 'wrong-key' ? OLD_KEYS : `refuses receipts (${refusal.code}): see the log`;
      return undefined;
    },
    witnesses: () => witnessed?.report(),
    retiredAt: () => shared?.ledgerKeys.retiredAt() ?? shared?.published.retiredAt(receipts.signer.keyId),
    async reload() {
      // The ledger key first, since it vouches for the receipt key: the old one may be refused already.
      if (await (shared?.ledgerKeys ?? checkpoints).reload()) {
        await log.resign();
        witnessed?.resign((shared?.ledgerKeys ?? checkpoints).signer);
      }
      await receipts.reload((keys) => shared?.published.publish(usedUntilNow(keys)) ?? Promise.resolve());
      await shared?.published.refresh();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function publishedLedgerEntry({ entries, rotations }: Pick<LedgerKeys, 'entries' | 'rotations'>, origin: string) {
  const notes = entries.flatMap(({ kid }) => rotations.get(kid) ?? []);
  return ledgerEntry(entries, { origin, url: '/ledger/', rotations: notes });
}

/** Leaves between two reports of an import. */
const LOGGED_LEAVES = 100_000;

function importLogger(logger: ImportLog): (progress: CopyProgress) => void {
  let reported = '';
  return ({ leaves, isChecking }) => {
    const message = isChecking ? 'checking the imported ledger' : 'importing the ledger of an earlier version';
    const step = `${message} ${Math.floor(leaves / LOGGED_LEAVES)}`;
    if (step !== reported) logger.info({ leaves }, message);
    reported = step;
  };
}

export const directoryOptions = (
  { directory, origin }: Pick<SignedLedgerOptions, 'directory' | 'origin'>,
  checkpoints: Keyring,
) => ({ directory: ledgerIn(directory), origin, keys: checkpointKeysOf(checkpoints) });

async function openShared(
  { directory, origin, now, checkpointCopy }: SignedLedgerOptions,
  { log: table, keys }: LedgerTables,
  { receipts, checkpoints }: Keyrings,
): Promise<{
  readonly log: DatabaseLog;
  readonly shared: { readonly published: PublishedKeys; readonly ledgerKeys: LedgerKeys };
}> {
  const folder = ledgerIn(directory);
  if (isLedgerDirectory(folder)) {
    throw new LogError(
      'not-moved',
      `${folder} holds a log that has not been moved to the database: move it with strata stack migrate-log`,
    );
  }
  if ((await checkpointCopy?.read()) !== undefined && !(await table.head())) {
    throw new LogError(
      'not-moved',
      'the store has a checkpoint of this log, but the database has no log: move it with strata stack migrate-log',
    );
  }
  await makeDirectory(folder);
  const ledgerKeys = new LedgerKeys({ origin, keyring: checkpoints, storage: keys, now });
  await ledgerKeys.refresh();
  // The log is opened first: only a node that may write it publishes its keys.
  const log = await openLog({
    ...{ origin, table, keys: ledgerKeys, checkpointFile: checkpointIn(folder) },
    // Not written: a checkpoint in the same database would be lost with the log.
    checkpointCopy: checkpointCopy && { read: () => checkpointCopy.read(), write: async () => {} },
  });
  try {
    ledgerKeys.refuseRetired({ overlapMs: 0 });
    await ledgerKeys.publish();
    const published = receiptKeysOf({ origin, keys: ledgerKeys, storage: keys });
    await published.publish(receipts.keys);
    published.refuseRetired(receipts.signer.keyId, now(), { overlapMs: 0 });
    return { log, shared: { published, ledgerKeys } };
  } catch (error) {
    await log[Symbol.asyncDispose]();
    throw error;
  }
}

type ImportLedgerOptions = Pick<SignedLedgerOptions, 'directory' | 'origin' | 'now' | 'checkpointCopy'> &
  Pick<MoveOptions, 'to' | 'onProgress' | 'signal'>;

/** Moves the log of a data directory: `moveLog`, with the directory's keys. */
export async function importLedger({ directory, origin, now, ...options }: ImportLedgerOptions): Promise<CopiedLog> {
  const { checkpoints } = await openKeyrings(directory, now, () => refuseNewKey(ledgerIn(directory)));
  return moveLog({ ...options, ...directoryOptions({ directory, origin }, checkpoints) });
}

type FillLedgerOptions = Pick<SignedLedgerOptions, 'directory' | 'origin' | 'now'> &
  Omit<CopyOptions, 'table' | 'keys'> & {
    readonly tables: LedgerTables;
    /** Texts of receipt keys that another ledger with these checkpoint keys published, and its origin. */
    readonly published: { readonly origin: string; readonly keys: ReadonlyMap<string, string> };
  };

/** Fills an empty log: `copyLeaves`, with the directory's keys, which are created if missing, and publishes its receipt keys. */
export async function fillLedger({ directory, now, tables, published, ...options }: FillLedgerOptions): Promise<void> {
  const { origin } = options;
  const keys = checkpointKeysOf((await openKeyrings(directory, now)).checkpoints);
  await copyLeaves({ ...options, keys, table: tables.log });
  const storage = { all: async () => published.keys, put: async () => {} };
  const before = receiptKeysOf({ origin: published.origin, keys, storage });
  await before.refresh();
  await receiptKeysOf({ origin, keys, storage: tables.keys }).publish(before.entries);
}

const receiptKeysOf = ({ origin, keys, storage }: { origin: string; keys: CheckpointKeys; storage: KeyStorage }) =>
  new PublishedKeys({
    origin,
    kind: 'receipt',
    signer: keys.signer,
    trusted: () => keys.publicKeys(),
    storage,
  });
