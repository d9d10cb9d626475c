// Whether the signing keys are there, private, whole, and those of the log beside them. Nothing is made here.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { KeyringError, openKeyring } from '@strata/log';
import { decodeBase64Url, noteVerifier, openNote } from '@strata/receipts';
import { type Finding, ok, problem } from './finding.ts';

export interface KeyPlace {
  /** Of which service: `stack`, `inference`. */
  readonly service: string;
  /** Holds `keys/receipts`, `keys/ledger` and `ledger`. */
  readonly directory: string;
  /** The log's name in its checkpoints. */
  readonly origin: string;
}

const RESTORE =
  'Restore keys and ledger together from the last backup; a new key would make receipts that were given out unverifiable.';

export async function checkKeys({ service, directory, origin }: KeyPlace): Promise<Finding> {
  const check = `signing keys (${service})`;
  const note = await readFile(path.join(directory, 'ledger', 'checkpoint'), 'utf8').catch(() => '');
  const folders = ['receipts', 'ledger'].map((name) => path.join(directory, 'keys', name));
  const present = await Promise.all(folders.map((folder) => isThere(path.join(folder, 'signing-keys.json'))));
  if (!present.some(Boolean) && note === '') return ok(check, 'none yet, the first start makes them');
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
    const verifiers = (checkpoints?.keys ?? []).map(({ x }) =>
      noteVerifier(origin, decodeBase64Url(x) ?? new Uint8Array(32)),
    );
    const opened = note === '' ? undefined : await openNote(note, verifiers);
    if (opened?.ok === false)
      return problem(check, {
        found: `the ledger's checkpoint is not signed by them as ${origin}: ${opened.problem}`,
        means: 'The service refuses to start: keys, ledger or its name are not of each other.',
        todo: `Set the ledger's origin back to what it was, or: ${RESTORE}`,
      });
    const retired = (receipts?.keys.length ?? 1) - 1;
    return ok(check, `private and whole, ${retired} retired${opened ? ', and those of the ledger' : ''}`);
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    const isOpen = /may be read by others/.test(error.message);
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
