// A server that sends scripted responses and records the requests.
import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Asked {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect arbitrary bodies
  readonly body: any;
  /** Its connection closed before the response was complete. */
  readonly closed: Promise<void>;
}

export type Script = (response: ServerResponse, asked: Asked) => void | Promise<void>;
export const MODEL = 'm';

export async function startScripted() {
  /** POST requests, in order. */
  const asked: Asked[] = [];
  /** Its information pages, by path, in addition to the list of models. */
  const pages: Record<string, unknown> = { '/v1/models': { object: 'list', data: [{ id: MODEL, owned_by: 'test' }] } };
  let scripts: Script[] = [];
  let connections = 0;
  const server = http.createServer(async (request, response) => {
    const { method, url: path = '', headers } = request;
    if (method === 'GET') {
      const page = pages[path];
      response.writeHead(page ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(page ?? {}));
      return;
    }
    const closed = new Promise<void>((resolve) => {
      response.once('close', () => response.writableFinished || resolve());
    });
    const it = { path, headers, body: await json(request), closed };
    asked.push(it);
    await (scripts.length > 1 ? scripts.shift() : scripts[0])?.(response, it);
  });
  server.on('connection', () => void connections++);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    ...{ asked, pages, connections: () => connections },
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** One for each POST; the last one repeats. */
    script(...given: Script[]) {
      scripts = given;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A stream of events as most servers format it. */
export const events = (...chunks: readonly unknown[]): string =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('');

export const delta = (given: object, more: object = {}) => ({ choices: [{ index: 0, delta: given, ...more }] });
export const says = (content: string) => delta({ content });
export const ends = (finish_reason: string) => delta({}, { finish_reason });
const used = { usage: { prompt_tokens: 7, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } } };
export const HELLO = events(says('Hel'), says('lo'), ends('stop'), { choices: [], ...used }, '[DONE]');

/** The same, not as a stream. */
export const COMPLETE_HELLO = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  ...used,
};

export const begin = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });

export const streams =
  (text: string): Script =>
  (response) =>
    void begin(response).end(text);

export const refuses =
  (status: number, body: unknown = '', headers: http.OutgoingHttpHeaders = {}): Script =>
  (response) =>
    void response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
