// A hub and an empty store for one test; both are removed afterwards.
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import type { DownloadProgress } from '../model-store/download.ts';
import type { ModelStoreErrorCode } from '../model-store/error.ts';
import { type ModelStoreOptions, resolveModel } from '../model-store/resolve-model.ts';
import type { DownloadRetry } from '../model-store/retry.ts';
import { cut, type FakeFile, startFakeHub } from './fake-hub.ts';

/** The file of `Scene.withModel`. */
export const REFERENCE = 'hf:o/r/m.gguf';
export const once = { retries: 0 };
export const offline = { ...once, endpoint: 'http://127.0.0.1:9' };

async function start(files: Readonly<Record<string, FakeFile>> = {}) {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(await temporaryDirectory()).path;
  const hub = stack.use(await startFakeHub());
  for (const [name, file] of Object.entries(files)) hub.files.set(name, file);
  const progress: DownloadProgress[] = [];
  const retries: DownloadRetry[] = [];
  const events = { onProgress: (event: DownloadProgress) => progress.push(event) };
  const options = (given: Partial<ModelStoreOptions> = {}): ModelStoreOptions => {
    return { dir, endpoint: hub.endpoint, retryMs: 5, idleTimeoutMs: 5_000, ...given };
  };
  /** Path in the store. */
  const at = (...names: string[]) => path.join(dir, ...names);
  const read = (...names: string[]) => readFile(at(...names));
  /** As a caller does, but with shorter timeouts. */
  const pull = (reference: string, given?: Partial<ModelStoreOptions>) =>
    resolveModel(reference, options(given), { ...events, onRetry: (retry) => retries.push(retry) });
  return Object.assign(stack.move(), {
    ...{ hub, dir, progress, retries, options, at, read, pull },
    /** A pull that is interrupted after some bytes; returns how many were kept. */
    async cutOff(afterBytes: number, name = 'm.gguf'): Promise<number> {
      hub.faults.push(cut(afterBytes));
      await assert.rejects(pull(`hf:o/r/${name}`, once), failsWith('network', /failed|broke off/));
      const { size } = await stat(at('o/r', `${name}.part`));
      assert.ok(size > 0 && size <= afterBytes, `${size} bytes were kept`);
      return size;
    },
    async assertHas(bytes: Buffer, name = 'o/r/m.gguf'): Promise<void> {
      assert.ok((await read(name)).equals(bytes), name);
    },
    /** Names in a repository's folder, without those of the store itself. */
    async names(...folder: string[]): Promise<readonly string[]> {
      const names = await readdir(at(...folder)).catch(() => []);
      return names.filter((name) => !name.startsWith('.')).sort();
    },
  });
}

export type Scene = Awaited<ReturnType<typeof start>>;
const withModel = (bytes: Buffer, file: Partial<FakeFile> = {}) => start({ 'm.gguf': { bytes, ...file } });
export const Scene = { start, withModel };

/** What `assert.rejects` compares a ModelStoreError with. */
export const failsWith = (code: ModelStoreErrorCode, message = /./) => ({ name: 'ModelStoreError', code, message });
