// A lock of the system on a file that holds nothing: it goes with the process, however that ends, and holds between containers that
// share the disk, where process numbers say nothing.
import { DatabaseSync } from 'node:sqlite';
import { StoreError, storeErrorOf } from './store-error.ts';

/** Undefined while another holds it; makes the file. Throws StoreError where it cannot be made. */
export function lockFile(file: string): Disposable | undefined {
  let holder: DatabaseSync | undefined;
  try {
    holder = new DatabaseSync(file);
    const held = holder;
    held.exec('begin exclusive');
    return { [Symbol.dispose]: () => held.close() };
  } catch (cause) {
    holder?.close();
    const error = storeErrorOf(cause);
    if (error instanceof StoreError && error.code === 'busy') return undefined;
    throw error;
  }
}
