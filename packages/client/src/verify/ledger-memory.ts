// Where a client remembers the ledgers that it verified: their keys and latest checkpoints.
import type { RememberedLedger } from '@strata/receipts';

/**
 * Keeps one list of ledgers between two checks. Several processes may use it concurrently: `set` accepts one of them.
 * Either method may reject; then nothing is judged.
 */
export interface LedgerMemory {
  /** The list that was last set; empty in the beginning. */
  get(): readonly RememberedLedger[] | Promise<readonly RememberedLedger[]>;
  /** Replaces the very list that `get` answered. False, and nothing is changed, where it was replaced since. */
  set(next: readonly RememberedLedger[], before: readonly RememberedLedger[]): boolean | Promise<boolean>;
}

/** A memory that ends with the process or page. */
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

/** Reads and writes a text; null is none. `write` replaces the text only while it is still `before`. */
export interface TextStorage {
  read(): string | null | Promise<string | null>;
  write(text: string, before: string | null): boolean | Promise<boolean>;
}

/** A memory in a text. */
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

/** What is not a list of ledgers is an entry that `followLedger` refuses: forgetting it silently would trust anyone. */
function listOf(text: string): readonly RememberedLedger[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {}
  return Array.isArray(value) ? value : [value as RememberedLedger];
}

/** A memory in the storage of a page. Where the browser keeps nothing, it ends with the page. */
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
        // Kept for this page only.
      }
      return true;
    },
  });
}
