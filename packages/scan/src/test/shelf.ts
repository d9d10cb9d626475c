// A web server of one document, which supports Range and If-Range, and breaks the connection where a test says so.
import type { Socket } from 'node:net';
import type { WebScript } from './web-server.ts';

export type Shelf = ReturnType<typeof shelf>;

export function shelf(content: Buffer, headers: Record<string, string> = { etag: '"v1"' }) {
  let cut: { readonly socket: Socket; readonly at: number } | undefined;
  const self = {
    content,
    headers,
    /** The connection breaks after so many bytes, once `onProgress` has reported them: the rest is lost. */
    cutAfter: undefined as number | undefined,
    /** The requests, as `range | if-range`. */
    asked: [] as string[],
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
      if (self.cutAfter === undefined) return void response.end(body);
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
