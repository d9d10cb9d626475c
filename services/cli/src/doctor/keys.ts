// Whether the signing keys are there, private, whole, and those of the log, beside them or in the database. Nothing is made here.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { KeyringError, ledgerKeysTold, openKeyring, publicKeyBytes, receiptKeysTold } from '@strata/log';
import { noteVerifier, openNote } from '@strata/receipts';
import { type Finding, ok, problem } from './finding.ts';

export interface KeyPlace {
  /** Of which service: `stack`, `inference`. */
  readonly service: string;
  /** Holds `keys/receipts`, `keys/ledger` and `ledger`. */
  readonly directory: string;
  /** The log's name in its checkpoints. */
  readonly origin: string;
  /** The log of a database: its newest checkpoint, and the texts by which its nodes tell their keys. */
  readonly shared?: { readonly note: string; readonly told: ReadonlyMap<string, string> } | undefined;
}

const RESTORE =
  'Restore keys and ledger together from the last backup; a new key would make receipts that were given out unverifiable.';

export async function checkKeys({ service, directory, origin, shared }: KeyPlace): Promise<Finding> {
  const check = `signing keys (${service})`;
  const note = shared?.note ?? (await readFile(path.join(directory, 'ledger', 'checkpoint'), 'utf8').catch(() => ''));
  const folders = ['receipts', 'ledger'].map((name) => path.join(directory, 'keys', name));
  const present = await Promise.all(folders.map((folder) => isThere(path.join(folder, 'signing-keys.json'))));
  if (!present.some(Boolean) && note === '') return ok(check, 'none yet, the first start makes them');
  if (shared && !present.some(Boolean))
    return problem(check, {
      found: `${path.join(directory, 'keys')} holds none, while the database holds the ledger of other nodes`,
      means: 'The service refuses to start.',
      todo: 'Copy the folder keys of another node here, under STRATA_DATA and of its user.',
    });
  const missing = folders.filter((_, at) => !present[at]);
  if (missing.length > 0)
    return problem(check, {
      found: `${missing.join(' and ')} hold no key, while ${note === '' ? 'the other does' : 'a ledger is there'}`,
      means: 'The service would make new ones, and the ledger would no longer be its own.',
      todo: RESTORE,
    });
  try {
    const [receipts, checkpoints] = await Promise.all(
      folders.map((folder) => openKeyring({ directory: folder, now: () => new Date() })),
    );
    const told = { origin, told: shared?.told ?? new Map<string, string>() };
    const known = await ledgerKeysTold(checkpoints?.keys ?? [], told);
    const verifiers = publicKeyBytes(known).map((key) => noteVerifier(origin, key));
    const opened = note === '' ? undefined : await openNote(note, verifiers);
    if (opened?.ok === false)
      return problem(check, {
        found: `the ledger's checkpoint is not signed by them as ${origin}: ${opened.problem}`,
        means: 'The service refuses to start: keys, ledger or its name are not of each other.',
        todo: `Set the ledger's origin back to what it was, or: ${RESTORE}`,
      });
    // Either ring may be of before a rotation, where only one was copied.
    const current = new Set([checkpoints?.keys[0]?.x, receipts?.keys[0]?.x]);
    const all = [...known, ...(await receiptKeysTold(known, told))];
    const retiredAt = all.find(({ x, not_after }) => current.has(x) && not_after !== undefined)?.not_after;
    if (retiredAt !== undefined)
      return problem(check, {
        found: `they were retired on ${retiredAt} by a rotation on another node`,
        means: 'The service signs nothing from five minutes after that on, and does not start again.',
        todo: 'Copy the newest folder keys here, under STRATA_DATA and of its user.',
      });
    const retired = (receipts?.keys.length ?? 1) - 1;
    return ok(check, `private and whole, ${retired} retired${opened ? ', and those of the ledger' : ''}`);
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    const isOpen = /is readable by other users/.test(error.message);
    return problem(check, {
      found: error.message,
      means: 'The service refuses to start.',
      todo: isOpen ? 'chmod 600 the file; whoever read it can sign as you: strata … keys rotate-signing.' : RESTORE,
    });
  }
}

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );
