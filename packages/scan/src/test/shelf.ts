// A web server of one document, which heeds Range and If-Range, and breaks off where it is told to.
import type { WebScript } from './web-server.ts';

/** The reader has what was sent after this, also on a busy machine: what it has not read when the connection breaks is lost to it. */
const READ_MS = 300;

export interface Shelf {
  content: Buffer;
  headers: Record<string, string>;
  /** The connection breaks after so many bytes. */
  cutAfter: number | undefined;
  /** What was asked for, as `range | if-range`. */
  readonly asked: string[];
  readonly script: WebScript;
}

export function shelf(content: Buffer, headers: Record<string, string> = { etag: '"v1"' }): Shelf {
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
      if (self.cutAfter === undefined) response.end(body);
      else response.write(body.subarray(0, self.cutAfter), () => setTimeout(() => request.socket.destroy(), READ_MS));
    },
  };
  return self;
}
