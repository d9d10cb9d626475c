// Both services as they are served, without any internet, and requests as an attacker writes them: byte by byte.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before } from 'node:test';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { readConfig, startStack } from '@strata/stack';
import { fakeService } from './fake-service.ts';
import { settingsOf } from './serve-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export type BothServices = Awaited<ReturnType<typeof startBothServices>>;

type Settings = Readonly<Record<string, string>>;

export async function startBothServices(settings: Settings = {}) {
  await using owned = new AsyncDisposableStack();
  const directory = owned.use(await temporaryDirectory()).path;
  // It repeats in its errors what it was told in confidence.
  const answer: RequestListener = (request, response) => {
    const isList = request.url === '/v1/models';
    response.writeHead(isList ? 200 : 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isList ? { object: 'list', data: [{ id: 'model' }] } : { error: request.headers }));
  };
  const upstream = owned.use(await fakeService(answer));
  const log: string[] = [];
  const logger = createLogger({ level: 'trace' }, { write: (line: string) => void log.push(line) });
  const given = {
    ...settingsOf(directory),
    ...{ STRATA_INFERENCE_PORT: '0', STRATA_UPSTREAM: `${upstream.base}/v1`, STRATA_UPSTREAM_MODELS: 'model' },
    ...settings,
  };
  const stack = owned.use(await startStack(readConfig(given), logger));
  const { gateway, port } = owned.use(await startGateway(readGatewayConfig(given), logger));
  const { app } = stack.service;
  const stackKey = (await app.store.keys.create({ tier: 'unlimited' })).key;
  const gatewayKey = (await gateway.keys.create({ tier: 'unlimited' })).key;
  const kept = owned.move();
  return {
    ...{ stackPort: stack.port, metricsPort: stack.metricsPort, gatewayPort: port },
    servers: { stack: stack.service.server.fastify.server, gateway: gateway.server.fastify.server },
    ...{ stackKey, gatewayKey, log },
    /** Leaves in the ledger of the stack service. */
    leaves: () => app.ledger.log.size,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Services for the tests of a file, stopped after them. */
export function useBothServices(settings: () => Settings | Promise<Settings> = () => ({})) {
  let services: BothServices;
  before(async () => {
    services = await startBothServices(await settings());
  });
  after(() => services?.[Symbol.asyncDispose]());
  return () => services;
}

/** The same, which scan on demand, and their resolver, which answers nothing. */
export function useServicesWithResolver(settings: Settings = {}) {
  const resolver = createSocket('udp4');
  const services = useBothServices(async () => {
    await once(resolver.bind(0, '127.0.0.1'), 'listening');
    return { STRATA_ON_DEMAND: 'on', STRATA_RESOLVERS: `127.0.0.1:${resolver.address().port}`, ...settings };
  });
  after(() => resolver.close());
  return { services, resolver };
}

/** All that a server sends after these bytes until it ends the connection. */
export function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const answer = received(socket);
  socket.write(bytes, 'latin1');
  return answer;
}

/** The same after a request with these header fields, at most one on the connection. */
export const request = (port: number, line: string, fields: readonly string[] = [], body = ''): Promise<string> =>
  exchange(port, `${line} HTTP/1.1\r\n${[...fields, 'connection: close'].join('\r\n')}\r\n\r\n${body}`);

/** What comes until the other side closes; a minute of silence is a failure. */
export function received(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    socket.setTimeout(60_000, () => {
      socket.destroy();
      reject(new Error('the server does not end the connection'));
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that has refused may reset what is still being sent.
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

/** The status of each answer. */
export function statuses(answers: string): number[] {
  return [...answers.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]));
}
