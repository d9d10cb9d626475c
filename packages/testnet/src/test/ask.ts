// A client for addresses of the simulated internet: resolves the name and validates the certificate.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Internet } from '../internet.ts';
import { records as recordsOf } from './dig.ts';

export async function ask(
  internet: Internet,
  url: string,
  options: { method?: 'HEAD'; headers?: Record<string, string>; maxBytes?: number; timeoutMs?: number } = {},
) {
  const { method = 'GET', headers = {}, maxBytes = Infinity, timeoutMs } = options;
  const { protocol, hostname, host, pathname, search } = new URL(url);
  const isSecure = protocol === 'https:';
  const { records } = await recordsOf<string>(internet.resolver, hostname, 'A');
  const address = records.find(({ type }) => type === 'A')?.data;
  if (address === undefined) throw new Error(`no address of '${hostname}'`);
  const to = internet.dial({ address, port: isSecure ? 443 : 80 });
  const path = `${pathname}${search}`;
  const asked = { host: to.address, port: to.port, path, method, headers: { host, ...headers }, agent: false } as const;
  const request = isSecure ? https.get({ ...asked, servername: hostname, ca: internet.caPem }) : http.get(asked);
  const [response]: IncomingMessage[] = await once(request, 'response');
  request.on('error', () => {});
  assert.ok(response);
  /** Checked by Node before the request was sent. */
  const issuer = isSecure ? String((response.socket as TLSSocket).getPeerCertificate().issuer.O) : undefined;
  const chunks: Buffer[] = [];
  /** `cut`: the server closed the connection before the end. */
  let end = 'complete' as 'complete' | 'cut' | 'too-large' | 'timeout';
  const stop = (reason: 'too-large' | 'timeout') => {
    end = reason;
    response.destroy();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs, 'timeout');
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      if (chunks.reduce((size, { length }) => size + length, 0) > maxBytes) stop('too-large');
    }
  } catch {
    if (end === 'complete') end = 'cut';
  }
  clearTimeout(timer);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks), end, issuer };
}
