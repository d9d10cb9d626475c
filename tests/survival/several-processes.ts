// Faults of six processes in roles on a PostgreSQL server, and of the server.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { rows } from '../../services/stack/src/store/test/backends.ts';
import { type PostgresServer, startPostgres } from '../support/database/postgres.ts';
import { startFleet, TWO_OF_EACH } from '../support/fleet.ts';
import { type FleetLoad, startLoad } from '../support/fleet-load.ts';
import { temporaryDirectory, untilAnswer } from '../support/index.ts';
import { working } from '../support/nodes.ts';
import { anyProcess, backup, type FaultyFleet, jump, prune, restarted, rotation, withClock } from './fleet-faults.ts';
import type { Group } from './scenario.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

type TestFleet = FaultyFleet & { readonly server: PostgresServer; readonly startedAt: number };

async function open(): Promise<TestFleet> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres());
  const { path: clocks } = stack.use(await temporaryDirectory());
  const settings: Record<string, string> = {};
  const own = (slot: number) => ({ ...withClock(clocks, slot), ...settings });
  const startedAt = Date.now();
  const target = stack.use(await startFleet(await server.fresh(), { own }));
  const owned = stack.move();
  return { ...target, server, settings, clocks, startedAt, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const leader = ({ fleet }: FaultyFleet) => working(fleet.all('scheduler'));

/** Times that no clock of a machine has set. */
async function assertTimes({ databaseUrl, startedAt }: TestFleet): Promise<void> {
  const [from, to] = [startedAt - 5 * MINUTE_MS, Date.now() + MINUTE_MS];
  const wrong = await rows(
    databaseUrl,
    `select 'scan' as what, observed_at as at from scans join domains on domains.id = domain_id
       where name not like 'moving-%' and observed_at not between ${from} and ${to}
     union all select 'lease', leased_until from domains where leased_until > ${to + 4 * MINUTE_MS}
     union all select 'event', published_us / 1000 from stream_events where published_us / 1000 not between ${from} and ${to}`,
  );
  assert.deepEqual(wrong, [], 'all times are those of the database');
}

export const severalProcesses: Group<TestFleet, FleetLoad> = {
  name: 'six processes, PostgreSQL',
  open,
  load: startLoad,
  faults: {
    'any process killed': anyProcess,
    'both API nodes killed at once': async (target, load) => {
      await Promise.all(target.fleet.all('api').map((node) => target.fleet.kill(node)));
      await restarted(target, load);
    },
    'PostgreSQL killed, or stopped at once': async ({ server }, load, round) => {
      await (round % 2 === 0 ? server.kill() : server.stop('immediate'));
      await load.refuses();
      await server.start();
      await load.goesOn();
    },
    'the leading scheduler stopped past its lease, then resumed': async (target, load) => {
      const stopped = await leader(target);
      const followers = target.fleet.all('scheduler').filter((node) => node !== stopped);
      stopped.child.kill('SIGSTOP');
      try {
        await working(followers);
        await load.goesOn(5);
      } finally {
        stopped.child.kill('SIGCONT');
      }
      await untilAnswer('one leads', async () => (await leader(target)) !== stopped);
      await load.goesOn(5);
    },
    'the leading scheduler killed while it prunes old events': prune(leader),
    'a backup, or a process during one, killed': backup,
    'a rotation of the signing keys killed': rotation(async ({ dataOf }) => {
      for (const slot of TWO_OF_EACH.keys())
        if (slot > 0) await cp(path.join(dataOf(0), 'keys'), path.join(dataOf(slot), 'keys'), { recursive: true });
    }),
    'clocks set back and ahead by 5 and 30 hours': async (target, load) => {
      await jump(target, [5 * HOUR_MS, -30 * HOUR_MS], async () => {
        await load.goesOn();
        await delay(100);
      });
      await assertTimes(target);
    },
  },
};
