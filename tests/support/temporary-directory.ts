// A directory of a test's own.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** An empty directory, removed with all that is in it when it is disposed. */
export const temporaryDirectory = () => mkdtempDisposable(path.join(tmpdir(), 'strata-test-'));
