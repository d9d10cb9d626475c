// Asks an address of the simulated internet as a client does: its name looked up, its certificate checked.
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Internet } from '../internet.ts';
import { records as recordsOf } from './dig.ts';

export interface AskOptions {
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  /** Reading stops there; no end by default. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** `cut`: the server hung up before the end. */
  readonly end: 'whole' | 'cut' | 'too-large' | 'timeout';
  /** Organisation that issued the server's certificate, checked by Node before the request was sent; undefined without TLS. */
  readonly issuer: string | undefined;
}

export async function ask(internet: Internet, url: string, options: AskOptions = {}): Promise<Asked> {
  const { protocol, hostname, host, pathname, search } = new URL(url);
  const isSecure = protocol === 'https:';
  const { records } = await recordsOf<string>(internet.resolver, hostname, 'A');
  const address = records.find(({ type }) => type === 'A')?.data;
  if (address === undefined) throw new Error(`no address of '${hostname}'`);
  const to = internet.dial({ address, port: isSecure ? 443 : 80 });
  return new Promise((resolve, reject) => {
    const asked = {
      host: to.address,
      port: to.port,
      path: `${pathname}${search}`,
      method: options.method ?? 'GET',
      headers: { host, ...options.headers },
      agent: false as const,
    };
    const read = (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      const issuer = isSecure ? String((response.socket as TLSSocket).getPeerCertificate().issuer.O) : undefined;
      let size = 0;
      let timer: NodeJS.Timeout | undefined;
      const done = (end: Asked['end']) => {
        clearTimeout(timer);
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body: Buffer.concat(chunks), end, issuer });
        response.destroy();
      };
      if (options.timeoutMs) timer = setTimeout(() => done('timeout'), options.timeoutMs);
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > (options.maxBytes ?? Number.POSITIVE_INFINITY)) done('too-large');
      });
      response.on('error', () => done('cut'));
      response.on('end', () => done('whole'));
    };
    const request = isSecure
      ? https.get({ ...asked, servername: hostname, ca: internet.caPem }, read)
      : http.get(asked, read);
    request.on('error', reject);
  });
}
