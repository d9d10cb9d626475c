// Signs shared bodies once per signing key, by the first process that needs one.
import { hash } from 'node:crypto';
import type { Notary } from '@strata/http';
import type { Log } from '@strata/log';
import { canonicalize } from '@strata/receipts';
import type { Store } from '../store/index.ts';

export interface SignOnceDeps {
  readonly sign: Notary['sign'];
  readonly log: Pick<Log, 'receipt'>;
  /** The id of the current signing key. */
  readonly keyId: () => string;
  readonly texts: Pick<Store['texts'], 'get' | 'put'>;
}

/**
 * A signed body is stored after its leaf is durable, for restarts and other nodes. Nodes that sign it at the same time add a leaf
 * each, and the last one is stored.
 */
export function createSignOnce({ sign, log, keyId, texts }: SignOnceDeps): Notary['signOnce'] {
  const signed = new Map<string, Promise<string>>();

  /** The stored body. Ignored if its leaf is missing, because the ledger was replaced. */
  async function readStored(name: string): Promise<string | undefined> {
    const text = await texts.get(name);
    if (text === undefined) return undefined;
    const body = JSON.parse(text) as { readonly provenance: { readonly ledger_receipt_id: string } };
    return (await log.receipt(body.provenance.ledger_receipt_id)) && text;
  }

  async function make(name: string, body: Readonly<Record<string, unknown>>): Promise<string> {
    // If the store fails, the body is signed again and kept in this process only.
    const known = await readStored(name).catch(() => undefined);
    if (known) return known;
    const made = await sign(body);
    await texts.put(name, made).catch(() => {});
    return made;
  }

  return (body) => {
    const name = `signed ${keyId()} ${hash('sha256', canonicalize(body))}`;
    const known = signed.get(name);
    if (known) return known;
    const made = make(name, body);
    signed.set(name, made);
    made.catch(() => signed.delete(name));
    return made;
  };
}
