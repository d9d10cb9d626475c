// Bodies that many callers get alike: signed once for each signing key, by whichever process of the store is first.
import { hash } from 'node:crypto';
import type { Notary } from '@strata/http';
import type { Log } from '@strata/log';
import { canonicalize } from '@strata/receipts';
import type { Store } from '@strata/store';

export interface SignOnceParts {
  readonly sign: Notary['sign'];
  readonly log: Pick<Log, 'receipt'>;
  /** Of the key that signs now. */
  readonly keyId: () => string;
  readonly texts: Pick<Store['texts'], 'get' | 'put'>;
}

/**
 * A signed body is remembered in the store after its leaf is durable: a restart takes it up, and so do other nodes. Nodes that sign
 * it at the same time may add a leaf each; the last one is remembered.
 */
export function createSignOnce({ sign, log, keyId, texts }: SignOnceParts): Notary['signOnce'] {
  const signed = new Map<string, Promise<object>>();

  /** What another start of this process, or another node, has signed; its leaf may be missing in a ledger that was begun anew. */
  async function remembered(name: string): Promise<object | undefined> {
    const text = await texts.get(name);
    if (text === undefined) return undefined;
    const body = JSON.parse(text) as { readonly provenance: { readonly ledger_receipt_id: string } };
    return (await log.receipt(body.provenance.ledger_receipt_id)) && body;
  }

  async function make(name: string, body: Readonly<Record<string, unknown>>): Promise<object> {
    // Where the store fails a receipt can still be given: then this process alone remembers it.
    const known = await remembered(name).catch(() => undefined);
    if (known) return known;
    const made = await sign(body);
    await texts.put(name, JSON.stringify(made)).catch(() => {});
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
