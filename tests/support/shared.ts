// What the test files of one process share.
import { after } from 'node:test';

const owned = new AsyncDisposableStack();
after(() => owned.disposeAsync());

/** One value for all callers, opened by the first of them and disposed after the last test; what it was opened with outlives it. */
export function shared<T extends AsyncDisposable>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open().then((value) => owned.use(value));
    return opened;
  };
}
