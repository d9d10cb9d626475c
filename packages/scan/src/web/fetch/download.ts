// Downloads a document into a file, from addresses that the fetcher permits.
import type { IncomingMessage } from 'node:http';
import { downloadFile } from '@strata/files';
import type { Deadline } from '../deadline.ts';
import { withoutSecrets } from '../redirect.ts';
import { type Fetched, type FetchRequest, stopped, type WalkDeps, type WebAnswer, walk } from './web-walk.ts';

export interface DownloadRequest extends Omit<FetchRequest, 'maxBytes' | 'method' | 'body'> {
  /** As sent, not decompressed; more is a failure. */
  readonly maxBytes: number;
  /** Called as bytes arrive, with the bytes received so far and the total if known. */
  readonly onProgress?: (doneBytes: number, totalBytes: number | undefined) => void;
}

/** `file` holds the complete document, as sent. */
export type Downloaded =
  | {
      readonly kind: 'downloaded';
      readonly sizeBytes: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly url: string;
    }
  | { readonly kind: 'answered'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | Extract<Fetched, { kind: 'failed' }>;

export interface DownloadWork extends DownloadRequest {
  readonly deadline: Deadline;
}

/** Rejects only for errors of the file system. */
export async function download(deps: WalkDeps, url: string, file: string, work: DownloadWork): Promise<Downloaded> {
  const { deadline, maxRedirects, maxBytes, onProgress } = work;
  const href = URL.canParse(url) ? withoutSecrets(new URL(url)).href : url;
  let answer: Pick<WebAnswer, 'headers' | 'url' | 'redirects'> = { headers: {}, url: href, redirects: [] };
  const outcome = await downloadFile(file, {
    source: href,
    maxBytes,
    onProgress: ({ receivedBytes, totalBytes }) => onProgress?.(receivedBytes, totalBytes),
    request: (range, read) => {
      const headers = { ...work.headers, ...range() };
      return walk(deps, href, { headers, acceptEncoding: 'identity', maxRedirects, deadline }, (received) => {
        answer = received;
        return read({ status: received.status, headers: received.headers, chunks: chunksOf(received.response) });
      });
    },
  });
  const { headers, redirects } = answer;
  switch (outcome.kind) {
    case 'complete':
      return { kind: 'downloaded', sizeBytes: outcome.sizeBytes, headers, url: answer.url };
    case 'answered':
      return { ...outcome, headers };
    case 'failed':
      return outcome;
    case 'cut':
      if (deadline.signal.aborted) return { ...stopped(deadline), redirects };
  }
  return { kind: 'failed', reason: 'failed', detail: outcome.detail, redirects };
}

async function* chunksOf(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  yield* response;
  if (!response.complete) throw new Error('the connection broke');
}
