// A server with arbitrary answers over a real socket.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fakeService } from '../../../../tests/support/fake-service.ts';

export interface HttpServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly IncomingMessage[];
}

export type Answering = (request: IncomingMessage, response: ServerResponse, count: number) => unknown;

export const STREAM = { 'content-type': 'text/event-stream' };

export const sends =
  (body: string | Uint8Array = '', status = 200, headers: Record<string, string> = {}): Answering =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

/** `count` is 1 for the first request. */
export async function startHttpServer(answering: Answering): Promise<HttpServer> {
  const requests: IncomingMessage[] = [];
  const { base, ...server } = await fakeService((asked, response) => answering(asked, response, requests.push(asked)));
  return { ...server, baseUrl: base, requests };
}

/** The error that something rejects with. */
export async function rejectionOf<E extends Error>(asked: Promise<unknown>, kind: new (...args: never[]) => E) {
  const error = await asked.catch((reason: unknown) => reason);
  if (error instanceof kind) return error;
  throw new Error(`expected a ${kind.name}`, { cause: error });
}
