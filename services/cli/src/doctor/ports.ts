// Whether the addresses of the settings are free, or held by this very service.
import { createServer } from 'node:net';
import { type Finding, ok, problem } from './finding.ts';

export interface PortPlace {
  readonly what: string;
  readonly host: string;
  /** 0: any, always free. */
  readonly port: number;
  /** The setting that names it. */
  readonly setting: string;
  /** A path that only a service of this kind answers, and words of that answer; none where it speaks no HTTP. */
  readonly ours?: { readonly path: string; readonly words: RegExp };
}

const ASK_MS = 3_000;
const MOST_ANSWER_BYTES = 1024 * 1024;

export async function checkPort({ what, host, port, setting, ours }: PortPlace): Promise<Finding> {
  const check = `port ${port} (${what})`;
  const code = await tryToListen(host, port);
  switch (code) {
    case undefined:
      return ok(check, `free at ${host}`);
    case 'EADDRINUSE':
      if (ours && (await answersAsOurs(host, port, ours))) return ok(check, `held by a running Strata at ${host}`);
      return problem(check, {
        found: `in use at ${host} by another program`,
        means: 'The service cannot start.',
        todo: `Stop that program (ss -ltnp shows it), or choose another port with ${setting}.`,
      });
    case 'EACCES':
      return problem(check, {
        found: `may not be opened by this user at ${host}`,
        means: 'The service cannot start.',
        todo: `Choose a port above 1023 with ${setting} and let a proxy listen below, or give CAP_NET_BIND_SERVICE.`,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return problem(check, {
        found: `this machine does not have the address ${host}`,
        means: 'The service cannot start.',
        todo: 'Set STRATA_HOST to an address of this machine: 127.0.0.1 behind a local proxy, 0.0.0.0 or :: for all.',
      });
    default:
      return problem(check, { found: `cannot be opened at ${host}: ${code}`, means: 'The service cannot start.' });
  }
}

/** The system's code of why not. */
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

async function answersAsOurs(host: string, port: number, { path, words }: NonNullable<PortPlace['ours']>) {
  // What listens everywhere is asked here.
  const at = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${at}:${port}${path}`, { signal: AbortSignal.timeout(ASK_MS) });
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MOST_ANSWER_BYTES) return false;
    }
    return words.test(text);
  } catch {
    return false;
  }
}
