// Debian's PgBouncer in transaction mode, with the configuration in deploy/.
import { spawn, spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { root } from '../deployed.ts';
import { endProcess } from '../end-process.ts';
import { freePort } from '../free-port.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { until } from '../until.ts';

export const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0;

/** The pooler of the database of this URL; the URL to it. */
export async function startPooler(
  stack: AsyncDisposableStack,
  direct: URL,
  serverConnections: number,
): Promise<string> {
  const directory = stack.use(await temporaryDirectory()).path;
  const [port, file, users] = [await freePort(), path.join(directory, 'pgbouncer.ini'), path.join(directory, 'users')];
  const text = (await readFile(path.join(root, 'deploy/pgbouncer/pgbouncer.ini'), 'utf8'))
    .replace(/^strata = .*$/m, `strata = host=127.0.0.1 port=${direct.port} dbname=${direct.pathname.slice(1)}`)
    .replace('listen_addr = *', 'listen_addr = 127.0.0.1')
    .replace('6432', String(port))
    .replace('default_pool_size = 20', `default_pool_size = ${serverConnections}`)
    .replace('/etc/pgbouncer/userlist.txt', users);
  await writeFile(file, text);
  await writeFile(users, '"strata" "secret"\n');
  await chmod(directory, 0o755);
  // It refuses to run as root.
  const child = spawn('pgbouncer', [...(process.getuid?.() === 0 ? ['-u', 'daemon'] : []), file], { stdio: 'ignore' });
  stack.defer(() => endProcess(child, 5_000));
  await until(() => isListening(port));
  return `postgres://strata:secret@127.0.0.1:${port}/strata?pgbouncer=true`;
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
