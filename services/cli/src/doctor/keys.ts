// Checks the signing keys: present, private, undamaged, and those of the ledger, in the data directory or in the database. Creates nothing.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { KeyringError, openKeyring, publishedLedgerKeys, publishedReceiptKeys } from '@strata/log';
import { openOwnNote } from '../backup/ledger-source.ts';
import { type Finding, ok, problem } from './finding.ts';

export interface KeyLocation {
  /** `stack` or `inference`. */
  readonly service: string;
  /** Contains `keys/receipts`, `keys/ledger` and `ledger`. */
  readonly directory: string;
  /** The log's name in its checkpoints. */
  readonly origin: string;
  /** The log of a database: its newest checkpoint, and the texts in which its nodes publish their keys. */
  readonly shared?: { readonly note: string; readonly published: ReadonlyMap<string, string> } | undefined;
}

const RESTORE =
  'Restore keys and ledger together from the last backup; with new keys, issued receipts cannot be verified.';

export async function checkKeys({ service, directory, origin, shared }: KeyLocation): Promise<Finding> {
  const check = `signing keys (${service})`;
  const note = shared?.note ?? (await readFile(path.join(directory, 'ledger', 'checkpoint'), 'utf8').catch(() => ''));
  const folders = ['receipts', 'ledger'].map((name) => path.join(directory, 'keys', name));
  const present = folders.map((folder) => existsSync(path.join(folder, 'signing-keys.json')));
  if (!present.some(Boolean) && note === '') return ok(check, 'do not exist yet; the first start creates them');
  if (shared && !present.some(Boolean))
    return problem(check, {
      found: `${path.join(directory, 'keys')} has no keys, but the database has the ledger of other nodes`,
      means: 'The service does not start.',
      todo: 'Copy the keys folder of another node to STRATA_DATA, owned by the user of the service.',
    });
  const missing = folders.filter((_, at) => !present[at]);
  if (missing.length > 0)
    return problem(check, {
      found: `no key in ${missing.join(' and ')}, but ${note === '' ? 'the other key exists' : 'a ledger exists'}`,
      means: 'The service would create new keys, which do not match the ledger.',
      todo: RESTORE,
    });
  try {
    const [receipts, checkpoints] = await Promise.all(
      folders.map((folder) => openKeyring({ directory: folder, now: () => new Date() })),
    );
    const published = { origin, texts: shared?.published ?? new Map<string, string>() };
    const known = await publishedLedgerKeys(checkpoints?.keys ?? [], published);
    const opened = note === '' ? undefined : await openOwnNote(note, origin, known);
    if (opened?.ok === false)
      return problem(check, {
        found: `the checkpoint of the ledger is not signed by these keys as ${origin}: ${opened.problem}`,
        means: 'The service does not start: keys, ledger and ledger name do not match.',
        todo: `Set the previous ledger origin again, or: ${RESTORE}`,
      });
    // Either keyring may be older than a rotation, if only one of them was copied.
    const current = new Set([checkpoints?.keys[0]?.x, receipts?.keys[0]?.x]);
    const all = [...known, ...(await publishedReceiptKeys(known, published))];
    const retiredAt = all.find(({ x, not_after }) => current.has(x) && not_after !== undefined)?.not_after;
    if (retiredAt !== undefined)
      return problem(check, {
        found: `retired on ${retiredAt} by a rotation on another node`,
        means: 'Five minutes after the rotation the service stops signing, and it does not start again.',
        todo: 'Copy the newest keys folder to STRATA_DATA, owned by the user of the service.',
      });
    const retired = (receipts?.keys.length ?? 1) - 1;
    return ok(check, `private and undamaged, ${retired} retired${opened ? ', match the ledger' : ''}`);
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    const isOpen = /is readable by other users/.test(error.message);
    return problem(check, {
      found: error.message,
      means: 'The service does not start.',
      todo: isOpen
        ? 'Set the file mode to 600. A user who has read the file can sign as you: rotate the keys with `keys rotate-signing`.'
        : RESTORE,
    });
  }
}
