// A directory of its own for the downloads of a suite, and a new name in it for each test.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import type { Downloaded, DownloadRequest } from '../web/fetch/download.ts';
import { type Internet, startInternet } from './fetching.ts';
import type { WebScript } from './web-server.ts';

export const URL_OF_IT = 'http://example.com/model.bin';

/** Created again before each test of the suite that calls this. */
export function useDownloads() {
  const downloads = { directory: '', file: '' };
  const stack = new AsyncDisposableStack();
  let number = 0;
  before(async () => {
    downloads.directory = stack.use(await temporaryDirectory()).path;
  });
  beforeEach(() => {
    downloads.file = join(downloads.directory, `file-${number++}`);
  });
  after(() => stack.disposeAsync());
  const left = (ending: string) => existsSync(`${downloads.file}${ending}`);
  const get = (internet: Internet, request: Partial<DownloadRequest> = {}, url = URL_OF_IT): Promise<Downloaded> =>
    internet.fetcher.download(url, downloads.file, { maxBytes: 10_000_000, timeoutMs: 30_000, ...request });
  async function assertComplete(outcome: Downloaded, content: Buffer): Promise<void> {
    assert.partialDeepStrictEqual(outcome, { kind: 'downloaded', sizeBytes: content.length });
    assert.ok((await readFile(downloads.file)).equals(content));
    assert.deepEqual([left('.part'), left('.part.json')], [false, false]);
  }
  /** A download of 100,000 random bytes that breaks after 40,000; `again` downloads without a break and must succeed. */
  async function cutOff(headers?: Record<string, string>, url = URL_OF_IT) {
    const it = shelf(randomBytes(100_000), headers);
    // Overridden by tests whose server answers a continuation otherwise.
    const server = { script: it.script };
    const internet = await startInternet((request, response) => server.script(request, response));
    const download = (from: string) => get(internet, { onProgress: it.onProgress }, from);
    it.cutAfter = 40_000;
    const cut = await download(url);
    assert.partialDeepStrictEqual(cut, { kind: 'failed', detail: 'cut off after 40000 bytes' });
    return {
      it,
      server,
      download: () => download(url),
      async again(from = url) {
        it.cutAfter = undefined;
        await assertComplete(await download(from), it.content);
        return it.asked;
      },
      [Symbol.asyncDispose]: () => internet[Symbol.asyncDispose](),
    };
  }
  return { downloads, left, get, assertComplete, cutOff };
}

/** A script of one document, which supports Range and If-Range, and breaks the connection where a test says so. */
export function shelf(content: Buffer, headers: Record<string, string> = { etag: '"v1"' }) {
  let cut: { readonly socket: Socket; readonly at: number } | undefined;
  const self = {
    content,
    headers,
    /** The connection breaks after so many bytes, once `onProgress` has reported them: the rest is lost. */
    cutAfter: undefined as number | undefined,
    /** The requests, as `range | if-range`. */
    asked: [] as string[],
    send: (response: ServerResponse, body: Buffer): void => void response.end(body),
    script: ((request, response) => {
      const { range, 'if-range': condition } = request.headers;
      self.asked.push(`${range ?? '-'} | ${condition ?? '-'}`);
      const isSame = condition === self.headers.etag || condition === self.headers['last-modified'];
      const from = range && isSame ? Number(/^bytes=(\d+)-$/.exec(range)?.[1]) : undefined;
      const body = self.content.subarray(from ?? 0);
      const total = self.content.length;
      response.writeHead(from === undefined ? 200 : 206, {
        ...self.headers,
        'content-length': body.length,
        ...(from === undefined ? {} : { 'content-range': `bytes ${from}-${total - 1}/${total}` }),
      });
      if (self.cutAfter === undefined) return self.send(response, body);
      cut = { socket: request.socket, at: (from ?? 0) + self.cutAfter };
      response.write(body.subarray(0, self.cutAfter));
    }) satisfies WebScript,
    /** For the downloads from it. */
    onProgress: (doneBytes: number) => {
      if (doneBytes === cut?.at) cut.socket.destroy();
    },
  };
  return self;
}
