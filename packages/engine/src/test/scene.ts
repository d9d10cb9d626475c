// A hub and an empty store for one test, both gone with it.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ModelStoreError, type ModelStoreErrorCode } from '../model-store/error.ts';
import type { DownloadProgress } from '../model-store/progress.ts';
import type { DownloadRetry } from '../model-store/retry.ts';
import { type ModelStoreOptions, type ResolvedModel, resolveModel } from '../model-store.ts';
import { type FakeFile, FakeHub } from './fake-hub.ts';

export class Scene implements AsyncDisposable {
  readonly hub: FakeHub;
  readonly dir: string;
  readonly progress: DownloadProgress[] = [];
  readonly retries: DownloadRetry[] = [];

  private constructor(hub: FakeHub, dir: string) {
    this.hub = hub;
    this.dir = dir;
  }

  static async start(files: Readonly<Record<string, FakeFile>> = {}): Promise<Scene> {
    const scene = new Scene(await FakeHub.start(), await mkdtemp(path.join(tmpdir(), 'strata-models-')));
    for (const [name, file] of Object.entries(files)) scene.hub.files.set(name, file);
    return scene;
  }

  /** As a caller does, but less patient. */
  pull(reference: string, options: Partial<ModelStoreOptions> = {}): Promise<ResolvedModel> {
    return resolveModel(reference, this.options(options), {
      onProgress: (event) => this.progress.push(event),
      onRetry: (retry) => this.retries.push(retry),
    });
  }

  options(options: Partial<ModelStoreOptions> = {}): ModelStoreOptions {
    return { dir: this.dir, endpoint: this.hub.endpoint, retryMs: 5, idleTimeoutMs: 5_000, ...options };
  }

  /** Path in the store. */
  at(...names: string[]): string {
    return path.join(this.dir, ...names);
  }

  async read(...names: string[]): Promise<Buffer> {
    return readFile(this.at(...names));
  }

  /** Names in a repository's folder, without what the store keeps for itself. */
  async names(...folder: string[]): Promise<readonly string[]> {
    const names = await readdir(this.at(...folder)).catch(() => []);
    return names.filter((name) => !name.startsWith('.')).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hub[Symbol.asyncDispose]();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** For `assert.rejects`: a ModelStoreError with this code, and words that fit. */
export function failsWith(code: ModelStoreErrorCode, words = /./): (error: unknown) => boolean {
  return (error) => {
    if (!(error instanceof ModelStoreError)) throw error;
    if (error.code !== code || !words.test(error.message))
      throw new Error(`${error.code}: ${error.message}`, { cause: error });
    return true;
  };
}
