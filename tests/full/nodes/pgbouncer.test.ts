// Scanners behind Debian's PgBouncer in transaction mode, with the configuration in deploy/.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { it } from 'node:test';
import { openStore } from '@strata/stack/store';
import { confirm, GOOGLE, scanOf } from '../../../services/stack/src/store/test/scans.ts';
import { binaries, notice, startPostgres } from '../../support/database/postgres.ts';
import { root } from '../../support/deployed.ts';
import { endProcess, freePort, temporaryDirectory, until } from '../../support/index.ts';

const [SCANNERS, CLAIMED, SERVER_CONNECTIONS] = [40, 8, 4];
const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0;
const skip = isInstalled ? !binaries && notice : 'pgbouncer is not installed';

/** The pooler of the database of this URL; the URL to it. */
async function startPooler(stack: AsyncDisposableStack, direct: URL): Promise<string> {
  const directory = stack.use(await temporaryDirectory()).path;
  const [port, file, users] = [await freePort(), path.join(directory, 'pgbouncer.ini'), path.join(directory, 'users')];
  const text = (await readFile(path.join(root, 'deploy/pgbouncer/pgbouncer.ini'), 'utf8'))
    .replace(/^strata = .*$/m, `strata = host=127.0.0.1 port=${direct.port} dbname=${direct.pathname.slice(1)}`)
    .replace('listen_addr = *', 'listen_addr = 127.0.0.1')
    .replace('6432', String(port))
    .replace('default_pool_size = 20', `default_pool_size = ${SERVER_CONNECTIONS}`)
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

it('forty scanners share four connections of the server, and record each domain once', { skip }, async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres());
  const direct = await server.fresh();
  const url = await startPooler(stack, new URL(direct));
  const names = Array.from({ length: SCANNERS * CLAIMED * 2 }, (_, n) => `d${n}.com`);
  {
    await using store = await openStore(direct);
    await store.domains.add(names, { source: 'test' });
  }
  const now = new Date();
  let most = 0;
  const scan = async (number: number) => {
    await using store = await openStore(url, { poolSize: 2 });
    const lease = { holder: `s${number}`, leaseMs: 60_000 };
    for (;;) {
      const claimed = await store.work.claimDue({ ...lease, limit: CLAIMED }, now);
      if (claimed.length === 0) return;
      const scans = claimed.map((name) => scanOf(name, now.toISOString(), GOOGLE));
      const [recorded] = await Promise.all([store.recordScans(scans, confirm), store.work.renew(claimed, lease, now)]);
      assert.ok(recorded.every(({ status }) => status === 'fulfilled'));
      const { rows } = await server.sql("select 1 from pg_stat_activity where datname like 'test_%'");
      most = Math.max(most, rows.length);
    }
  };
  await Promise.all(Array.from({ length: SCANNERS }, (_, number) => scan(number)));
  assert.ok(most > 0 && most <= SERVER_CONNECTIONS, `${most} connections`);
  await using store = await openStore(direct);
  assert.partialDeepStrictEqual(await store.inspection.counts(), { scannedDomains: names.length, scans: names.length });
});
