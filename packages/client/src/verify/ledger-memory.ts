// Storage of the keys and latest checkpoints of verified ledgers.
import type { RememberedLedger } from '@strata/receipts';

/**
 * Stores one list of ledgers between verifications. Several processes may use it concurrently; `set` accepts one of them. If a method
 * rejects, the verification rejects too.
 */
export interface LedgerMemory {
  /** The stored list; initially empty. */
  get(): readonly RememberedLedger[] | Promise<readonly RememberedLedger[]>;
  /** Replaces the list that `get` returned as `before`. False, without a change, where it was replaced since. */
  set(next: readonly RememberedLedger[], before: readonly RememberedLedger[]): boolean | Promise<boolean>;
}

/** A memory for the lifetime of the process or page. */
export function ledgerMemory(): LedgerMemory {
  let ledgers: readonly RememberedLedger[] = [];
  return {
    get: () => ledgers,
    set(next, before) {
      if (before !== ledgers) return false;
      ledgers = next;
      return true;
    },
  };
}

/** Reads and writes a text; null without a text. `write` replaces the text only if it is still `before`. */
export interface TextStorage {
  read(): string | null | Promise<string | null>;
  write(text: string, before: string | null): boolean | Promise<boolean>;
}

/** A memory that is stored as text. */
export function textMemory(storage: TextStorage): LedgerMemory {
  const texts = new WeakMap<object, string | null>();
  return {
    async get() {
      const text = await storage.read();
      const ledgers = text === null ? [] : listOf(text);
      texts.set(ledgers, text);
      return ledgers;
    },
    set: (next, before) => storage.write(JSON.stringify(next), texts.get(before) ?? null),
  };
}

/** An invalid text becomes an entry that `checkLedger` rejects. Ignoring it would trust any ledger. */
function listOf(text: string): readonly RememberedLedger[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {}
  return Array.isArray(value) ? value : [value as RememberedLedger];
}

/** A memory in the storage of a page. Without storage, it lasts for the lifetime of the page. */
export function storedLedgerMemory(storage: () => Pick<Storage, 'getItem' | 'setItem'>, name: string): LedgerMemory {
  let inPage: string | null = null;
  return textMemory({
    read() {
      try {
        return storage().getItem(name) ?? inPage;
      } catch {
        return inPage;
      }
    },
    write(text, before) {
      if (this.read() !== before) return false;
      inPage = text;
      try {
        storage().setItem(name, text);
      } catch {
        // Stored for this page only.
      }
      return true;
    },
  });
}
