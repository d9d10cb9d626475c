// Checks whether the configured ports are free, or in use by the service itself.
import { createServer } from 'node:net';
import { type Finding, ok, problem } from './finding.ts';

export interface PortToCheck {
  readonly what: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The setting of the port. */
  readonly setting: string;
  /** A path and a pattern of its response by which the service is identified; undefined where it does not speak HTTP. */
  readonly ours?: { readonly path: string; readonly text: RegExp };
}

const TIMEOUT_MS = 3_000;
const MAX_RESPONSE_LENGTH = 1024 * 1024;

export async function checkPort({ what, host, port, setting, ours }: PortToCheck): Promise<Finding> {
  const check = `port ${port} (${what})`;
  const code = await tryToListen(host, port);
  switch (code) {
    case undefined:
      return ok(check, `free at ${host}`);
    case 'EADDRINUSE':
      if (ours && (await answersAsOurs(host, port, ours))) return ok(check, `in use by a running Strata at ${host}`);
      return problem(check, {
        found: `in use at ${host} by another program`,
        means: 'The service cannot start.',
        todo: `Stop that program (ss -ltnp shows it), or set ${setting} to another port.`,
      });
    case 'EACCES':
      return problem(check, {
        found: `this user has no permission to listen at ${host}`,
        means: 'The service cannot start.',
        todo: `Set ${setting} to a port above 1023 and use a proxy, or grant CAP_NET_BIND_SERVICE.`,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return problem(check, {
        found: `${host} is not an address of this machine`,
        means: 'The service cannot start.',
        todo: 'Set STRATA_HOST to an address of this machine: 127.0.0.1 behind a local proxy, 0.0.0.0 or :: for all.',
      });
    default:
      return problem(check, { found: `cannot be opened at ${host}: ${code}`, means: 'The service cannot start.' });
  }
}

/** The error code of the system; undefined where the port is free. */
async function tryToListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen({ host, port }, resolve));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    await new Promise((closed) => server.close(closed));
  }
}

async function answersAsOurs(host: string, port: number, { path, text: pattern }: NonNullable<PortToCheck['ours']>) {
  // A service that listens on all addresses is reached by loopback.
  const at = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${at}:${port}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_RESPONSE_LENGTH) return false;
    }
    return pattern.test(text);
  } catch {
    return false;
  }
}
