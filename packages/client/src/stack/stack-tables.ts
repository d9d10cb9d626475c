// Tables as files: look-ups of lists of any length, and complete exports, as jobs of the service.
import { type Fetched, fetchBounded } from '../http/fetch-bounded.ts';
import { baseOf } from '../http/service-address.ts';
import { answerOf, keyHeaders } from './stack-answer.ts';
import type { CallOptions, StackClientOptions } from './stack-client.ts';
import { answeredProblem, networkProblem } from './stack-problem.ts';
import { addressOf } from './stack-request.ts';
import type { Job } from './stack-types.ts';

export type TableFormat = 'csv' | 'ndjson' | 'parquet';

export interface FileOptions extends CallOptions {
  readonly format: TableFormat;
  /** The columns, in their order; by default all. */
  readonly fields?: readonly string[] | undefined;
}

/** Names as the service reads them: one per row of CSV, or per line of NDJSON. */
export interface NameList {
  readonly content: string | Uint8Array<ArrayBuffer> | Blob;
  readonly type: 'text/csv' | 'application/x-ndjson';
}

/** A file of the service, or the part of it that was asked for. */
export interface StackFile {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: AsyncIterable<Uint8Array>;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** An upload, or an answer that waits for a job. */
const TIMEOUT_MS = 60_000;
const WAIT_SECONDS = 20;

export class StackTables {
  readonly #base: URL;
  readonly #options: StackClientOptions;

  constructor(options: StackClientOptions) {
    this.#base = baseOf(options.baseUrl);
    this.#options = options;
  }

  /** The rows of at most 1,000 names as a file. Rejects with a StackProblem, as all methods do, or with the signal's reason. */
  async lookup(names: NameList, { format, fields, signal }: FileOptions): Promise<Uint8Array> {
    const query = { format, fields: fields?.join(',') };
    const url = addressOf(this.#base, '/stack/v1/domains:lookup', { query });
    const fetched = await this.#post(url, { names, signal });
    if (fetched.ok && fetched.status < 400) return fetched.content;
    answerOf(fetched, { url, isText: false });
    throw networkProblem(`${url} gave no file.`);
  }

  /** Starts a look-up of up to a million names. */
  async startLookup(names: NameList, { format, fields, signal }: FileOptions): Promise<Job> {
    const url = addressOf(this.#base, '/stack/v1/lookups', { query: { format, fields: fields?.join(',') } });
    return jobIn(await this.#post(url, { names, signal }), url);
  }

  /** Starts an export of a table; `filter` has its query parameters. */
  async startExport(
    table: string,
    { format, fields, signal }: FileOptions,
    filter: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Job> {
    const query = { ...filter, format, fields: fields?.join(',') };
    const url = addressOf(this.#base, '/stack/v1/exports/{table}', { path: { table }, query });
    return jobIn(await this.#post(url, { signal }), url);
  }

  /** Waits until a job has ended; `onProgress` gets its state after each request. */
  async ended(job: Job, { signal, onProgress }: CallOptions & { onProgress?: (job: Job) => void } = {}): Promise<Job> {
    for (let current = job; ; ) {
      onProgress?.(current);
      if (current.state === 'complete' || current.state === 'failed') return current;
      const url = addressOf(this.#base, '/stack/v1/jobs/{id}', { path: { id: job.id }, query: { wait: WAIT_SECONDS } });
      current = jobIn(await this.#fetched(url, { signal }), url);
    }
  }

  /** The file at a path of the service: of a job, or `/stack/v1/exports/…`; `headers` may ask for a range. */
  async file(
    path: string,
    { headers = {}, signal }: CallOptions & { headers?: Readonly<Record<string, string>> } = {},
  ): Promise<StackFile> {
    const url = new URL(path, this.#base);
    const init = { headers: { ...headers, ...keyHeaders(this.#options.key) }, redirect: 'error' as const };
    // Not as a method: a browser's `fetch` accepts no other receiver.
    const fetch = this.#fetch;
    const response = await fetch(url, { ...init, ...(signal && { signal }) }).catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw networkProblem(`${url.href} cannot be reached.`, { cause });
    });
    const { status, body } = response;
    // 416 shows a resumed download that it is complete.
    if (status >= 400 && status !== 416) throw answeredProblem(status, response.headers, await response.text());
    return {
      status,
      headers: response.headers,
      chunks: chunksOf(body),
    };
  }

  #post(url: string, { names, signal }: { names?: NameList; signal?: AbortSignal | undefined }): Promise<Fetched> {
    return this.#fetched(url, { signal, names, method: 'POST' });
  }

  async #fetched(
    url: string,
    { signal, names, method = 'GET' }: CallOptions & { names?: NameList | undefined; method?: 'GET' | 'POST' },
  ): Promise<Fetched> {
    signal?.throwIfAborted();
    return await fetchBounded(new URL(url), {
      fetch: this.#fetch,
      maxBytes: MAX_ANSWER_BYTES,
      headers: { ...keyHeaders(this.#options.key), ...(names && { 'Content-Type': names.type }) },
      method,
      ...(names && { body: names.content }),
      timeoutMs: this.#options.timeoutMs ?? TIMEOUT_MS,
      signal,
    });
  }

  get #fetch(): typeof globalThis.fetch {
    return this.#options.fetch ?? globalThis.fetch;
  }
}

function jobIn(fetched: Fetched, url: string): Job {
  const { body } = answerOf(fetched, { url, isText: false });
  return (body as { readonly job: Job }).job;
}

/** Not every browser iterates over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) yield part.value;
}
