// A web server of one document, which supports Range and If-Range, and breaks the connection where a test says so.
import type { Socket } from 'node:net';
import type { WebScript } from './web-server.ts';

export interface Shelf {
  content: Buffer;
  headers: Record<string, string>;
  /** The connection breaks after so many bytes, once `onProgress` has reported them: what a client has not read by then is lost. */
  cutAfter: number | undefined;
  /** What was asked for, as `range | if-range`. */
  readonly asked: string[];
  readonly script: WebScript;
  /** For the downloads from it. */
  readonly onProgress: (doneBytes: number) => void;
}

export function shelf(content: Buffer, headers: Record<string, string> = { etag: '"v1"' }): Shelf {
  let cut: { readonly socket: Socket; readonly at: number } | undefined;
  const self: Shelf = {
    content,
    headers,
    cutAfter: undefined,
    asked: [],
    script: (request, response) => {
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
      if (self.cutAfter === undefined) return void response.end(body);
      cut = { socket: request.socket, at: (from ?? 0) + self.cutAfter };
      response.write(body.subarray(0, self.cutAfter));
    },
    onProgress: (doneBytes) => {
      if (doneBytes === cut?.at) cut.socket.destroy();
    },
  };
  return self;
}
