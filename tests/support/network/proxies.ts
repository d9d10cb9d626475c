// nginx and HAProxy with their files of deploy/proxy, in front of gateways on this machine.
import { spawn, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../deployed.ts';
import { endProcess } from '../end-process.ts';
import { freePort } from '../free-port.ts';

export type ProxyProgram = 'nginx' | 'haproxy';

/** Those that are installed. */
export const PROXIES: readonly ProxyProgram[] = (['nginx', 'haproxy'] as const).filter(
  (program) => spawnSync(program, ['-v']).status === 0,
);

/** Starts one in front of gateways at these ports; returns its address. */
export async function startProxy(
  stack: AsyncDisposableStack,
  program: ProxyProgram,
  { directory, ports }: { readonly directory: string; readonly ports: readonly number[] },
): Promise<string> {
  const [port, site] = [await freePort(), path.join(directory, program)];
  const name = program === 'nginx' ? 'nginx.conf' : 'haproxy.cfg';
  const text = (await readFile(path.join(root, 'deploy/proxy', name), 'utf8'))
    .replaceAll(/10\.0\.0\.([123]):8788/g, (_, n) => `127.0.0.1:${ports[n % ports.length]}`)
    .replace(/\b8080\b/, String(port));
  await writeFile(site, text);
  await writeFile(`${site}.main`, `daemon off; pid ${site}.pid; events {} http { access_log off; include ${site}; }`);
  const args = program === 'nginx' ? ['-e', `${site}.log`, '-c', `${site}.main`] : ['-db', '-f', site];
  const child = spawn(program, args, { stdio: 'ignore' });
  stack.defer(() => endProcess(child, 5_000));
  return `http://127.0.0.1:${port}`;
}
