// A hub and an empty store for one test; both are removed after it.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ModelStoreErrorCode } from '../model-store/error.ts';
import type { DownloadProgress } from '../model-store/progress.ts';
import type { DownloadRetry } from '../model-store/retry.ts';
import { type ModelStoreOptions, type ResolvedModel, resolveModel } from '../model-store.ts';
import { type FakeFile, FakeHub } from './fake-hub.ts';

/** The file of `Scene.withModel`. */
export const REFERENCE = 'hf:o/r/m.gguf';
export const once = { retries: 0 };
export const offline = { ...once, endpoint: 'http://127.0.0.1:9' };

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

  static withModel(bytes: Buffer, file: Partial<FakeFile> = {}): Promise<Scene> {
    return Scene.start({ 'm.gguf': { bytes, ...file } });
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

  async assertHas(bytes: Buffer, name = 'o/r/m.gguf'): Promise<void> {
    assert.ok((await this.read(name)).equals(bytes), name);
  }

  /** Names in a repository's folder, without those of the store itself. */
  async names(...folder: string[]): Promise<readonly string[]> {
    const names = await readdir(this.at(...folder)).catch(() => []);
    return names.filter((name) => !name.startsWith('.')).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hub[Symbol.asyncDispose]();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** What `assert.rejects` compares a ModelStoreError with. */
export const failsWith = (code: ModelStoreErrorCode, message = /./) => ({ name: 'ModelStoreError', code, message });
