// Responses that a reader must be protected from: pages instead of feeds, and bodies that stop, are slow, endless or
// explode.
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FeedDocument } from './formats/documents.ts';

const XML = { 'content-type': 'application/rss+xml; charset=utf-8' } as const;
const DRIP_BYTES = 8;
const DRIP_EVERY_MS = 1_000;
/** Ten to the ninth copies of a word. */
const BOMB_LEVELS = 9;

/** A site's own page, with a link that is not a mention. */
export function answerPage(response: ServerResponse, status: 200 | 404 | 410 | 500): void {
  const title = status === 200 ? 'Service unavailable' : `Error ${status}`;
  response
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
    .end(
      `<!doctype html><title>${title}</title><h1>${title}</h1><p>See <a href="https://status.example/">status</a>.<br>`,
    );
}

/** Announces the complete document, sends half of it and closes the connection. */
export function answerInPart({ contentType, body }: FeedDocument, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': contentType, 'content-length': body.length });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
}

/** Longer than any client should wait: hours for a complete document. */
export function answerSlowly({ contentType, body }: FeedDocument, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': contentType });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + DRIP_BYTES));
    sent += DRIP_BYTES;
    if (sent >= body.length) response.end();
  }, DRIP_EVERY_MS).unref();
  response.once('close', () => clearInterval(timer));
}

/** Items as long as the client reads. */
export function answerEndlessly(response: ServerResponse): void {
  response.writeHead(200, XML);
  // Ends when the client closes the connection.
  void pipeline(Readable.from(endlessItems()), response).catch(() => {});
}

function* endlessItems(): Generator<string> {
  yield '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel><title>Without end</title>\n';
  for (let n = 0; ; n += 1) {
    yield `<item><title>Item ${n}</title><guid isPermaLink="false">${n}</guid><description>${'more of it '.repeat(400)}</description></item>\n`;
  }
}

/** Nested entities, https://en.wikipedia.org/wiki/Billion_laughs_attack */
export function answerBomb(response: ServerResponse): void {
  const entities = Array.from({ length: BOMB_LEVELS }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`);
  response.writeHead(200, XML).end(`<?xml version="1.0"?>
<!DOCTYPE rss [<!ENTITY e0 "ha">${entities.join('\n')}]>
<rss version="2.0"><channel><title>&e${BOMB_LEVELS};</title><item><title>&e${BOMB_LEVELS};</title></item></channel></rss>
`);
}
