// NSD and Unbound, where they are installed, each as a process with a temporary directory.
import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endProcess } from '../../../../tests/support/end-process.ts';
import { Resolver } from '../dns/resolver.ts';

const READY_MS = 30_000;

/** Why the real servers cannot be had here; undefined when they can. */
export async function whyNotHere(address: string, programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs)
    if (spawnSync(program, ['-h'], { timeout: 10_000 }).error) return `${program} is not installed`;
  const socket = createSocket('udp4');
  try {
    socket.bind(53, address);
    await once(socket, 'listening');
    return undefined;
  } catch (error) {
    return `port 53 is not available: ${(error as Error).message}`;
  } finally {
    socket.close();
  }
}

type Where = { readonly address: string; readonly port: number };

export interface UnboundOptions {
  /** A configuration for the interface 127.0.0.1, of which port, files and user are replaced. */
  readonly include: string;
  readonly port: number;
  /** Address of the root server, on loopback. */
  readonly root: string;
  readonly trustAnchors: readonly string[];
}

/** A recursive resolver that starts at `root`. */
export function startUnbound({ include, port, root, trustAnchors }: UnboundOptions) {
  return startServer('unbound', { address: '127.0.0.1', port }, async (directory) => {
    await writeFile(path.join(directory, 'hints'), `. 3600 IN NS ns.root.\nns.root. 3600 IN A ${root}\n`);
    return `include: "${include}"
server:
  port: ${port}
  username: ""
  chroot: ""
  directory: "${directory}"
  pidfile: ""
  use-syslog: no
  logfile: "${directory}/log"
  root-hints: "${directory}/hints"
  do-not-query-localhost: no
${trustAnchors.map((anchor) => `  trust-anchor: "${anchor}"\n`).join('')}
remote-control:
  control-enable: no
`;
  });
}

/** Starts an installed program with a configuration that is made in a folder of its own. */
export async function startServer(program: string, where: Where, configure: (directory: string) => Promise<string>) {
  const directory = await mkdtemp(path.join(tmpdir(), `strata-${program}-`));
  const config = path.join(directory, 'server.conf');
  await writeFile(config, await configure(directory));
  const child = spawn(program, ['-d', '-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr?.on('data', (chunk) => {
    output = (output + chunk).slice(-2_000);
  });
  const server = {
    ...where,
    async [Symbol.asyncDispose]() {
      await endProcess(child, 10_000);
      await rm(directory, { recursive: true, force: true });
    },
  };
  await using probe = new Resolver({ upstreams: [where], tryTimeoutMs: 500, tries: 1 });
  for (const until = Date.now() + READY_MS; ; ) {
    // Any answer shows that it listens.
    const { status } = await probe.query('ready.invalid', 'A');
    if (status !== 'timeout') return server;
    if (child.exitCode !== null || Date.now() > until) {
      await server[Symbol.asyncDispose]();
      throw new Error(`${program} does not answer: ${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
