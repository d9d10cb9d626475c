// A web server of scripts on loopback, and certificates good and bad; its `dial` brings every address there.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import * as x509 from '@peculiar/x509';
import type { Target } from '../web/web-request.ts';

x509.cryptoProvider.set(webcrypto as unknown as Crypto);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

export type WebScript = (request: http.IncomingMessage, response: http.ServerResponse) => void;

export interface WebServerOptions {
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Nothing listens on the other one's port. */
  readonly only?: 'http' | 'https';
}

/** Self-signed. It can be trusted by giving it as a root. */
export async function makeCertificate(
  names: readonly string[],
  { fromDays = -1, toDays = 90 }: { fromDays?: number; toDays?: number } = {},
) {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Test CA, O=Test Trust',
    keys: keys as unknown as CryptoKeyPair,
    signingAlgorithm: ALGORITHM,
    serialNumber: '01',
    notBefore: new Date(Date.now() + fromDays * DAY_MS),
    notAfter: new Date(Date.now() + toDays * DAY_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true),
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
    ],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return { cert: certificate.toString('pem'), key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` };
}

const OURS = ['example.com', '*.example.com'];
/** One for all tests to whom it does not matter: making it takes a while. */
export const usualCertificate = await makeCertificate(OURS);

export async function startWebServer(script: WebScript, options: WebServerOptions = {}) {
  /** Requests as `https host /path`, in order. */
  const asked: string[] = [];
  /** What was to be dialled, before it was led here. */
  const dialled: Target[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const answer = (scheme: string) => (request: http.IncomingMessage, response: http.ServerResponse) => {
    asked.push(`${scheme} ${request.headers.host} ${request.url}`);
    script(request, response);
  };
  const tls = { ...(options.certificate ?? usualCertificate) };
  const servers = { http: http.createServer(answer('http')), https: https.createServer(tls, answer('https')) };
  const portOf = async (scheme: 'http' | 'https') => {
    const server: Server = servers[scheme];
    server.on('connection', (socket: Socket) => {
      connections += 1;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    });
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if ((options.only ?? scheme) !== scheme) await close(server);
    return port;
  };
  const ports = { http: await portOf('http'), https: await portOf('https') };
  return {
    asked,
    dialled,
    connections: () => connections,
    open: () => sockets.size,
    dial: (target: Target) => {
      dialled.push(target);
      return { address: '127.0.0.1', port: target.port === 443 ? ports.https : ports.http };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(Object.values(servers).map((server) => (server.listening ? close(server) : undefined)));
    },
  };
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

export const hello: WebScript = (_request, response) => void response.end('hello');

/** The script for pages, with a robots.txt that does not exist. */
export const withoutRobots =
  (script: WebScript): WebScript =>
  (request, response) =>
    request.url === '/robots.txt' ? void response.writeHead(404).end() : script(request, response);

export const respond = (status: number, headers: http.OutgoingHttpHeaders = {}, body: string | Buffer = '') =>
  withoutRobots((_request, response) => void response.writeHead(status, headers).end(body));

export const page = (html: string, headers: http.OutgoingHttpHeaders = {}) =>
  respond(200, { 'content-type': 'text/html', ...headers }, html);

/** A redirect to `location` for any path but robots.txt; without one, from path to path without an end. */
export const redirectTo = (location?: string) =>
  withoutRobots(({ url }, response) => void response.writeHead(302, { location: location ?? `${url}x` }).end());

/** Certificates that must not be trusted, with Node's code for the reason. */
export const badCertificates = (
  [
    ['self-signed', OURS, {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['expired', OURS, { fromDays: -9, toDays: -2 }, 'CERT_HAS_EXPIRED'],
    ['not yet valid', OURS, { fromDays: 3 }, 'CERT_NOT_YET_VALID'],
    ["another name's", ['other.test'], {}, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ] as const
).map(([what, names, validity, code]) => {
  const make = async () => {
    const certificate = await makeCertificate(names, validity);
    return { certificate, trustedCa: what === 'self-signed' ? [] : [certificate.cert] };
  };
  return { what, code, make };
});
