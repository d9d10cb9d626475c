// Faults of the one process that has SQLite files for its store and its ledger, on a small file system of its own where one can be mounted.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startFleet } from '../support/fleet.ts';
import { type FleetLoad, startLoad } from '../support/fleet-load.ts';
import { startServe } from '../support/serve-process.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import * as fleetFaults from './fleet-faults.ts';
import type { Group } from './scenario.ts';

const { anyProcess, backup, jump, prune, restarted, rotation, untilFile, withClock } = fleetFaults;

const DISK_MB = 128;
const MINUTE_MS = 60_000;
/** Process 1 of a new namespace, as in a container. */
const CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

type TestFleet = fleetFaults.FaultyFleet & { readonly disk: ReturnType<typeof mountSmallDisk> };

async function open(): Promise<TestFleet> {
  await using stack = new AsyncDisposableStack();
  const found = mountSmallDisk(DISK_MB);
  const disk = found && stack.use(found);
  const { path: clocks } = stack.use(await temporaryDirectory());
  const directory = disk?.path ?? stack.use(await temporaryDirectory()).path;
  const data = path.join(directory, 'slot-0');
  mkdirSync(path.join(data, 'ledger'), { recursive: true });
  // What an earlier version left when it was killed as process 1 of a container.
  writeFileSync(path.join(data, 'ledger/lock'), '1 17\n');
  const settings: Record<string, string> = {};
  const own = (slot: number) => ({ ...withClock(clocks, slot), ...settings });
  const target = stack.use(await startFleet(`sqlite:${data}/strata.db`, { roles: ['all'], own, directory }));
  const owned = stack.move();
  return { ...target, settings, clocks, disk, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const only = async ({ fleet }: fleetFaults.FaultyFleet) => fleet.all()[0] ?? assert.fail('the process is online');

/** Kills it when a file of this name appears in its data. */
const killedAt =
  (folder: string, name: RegExp, begin: NodeJS.Signals | 0) => async (target: TestFleet, load: FleetLoad) => {
    const node = await only(target);
    if (begin) node.child.kill(begin);
    await untilFile(path.join(target.dataOf(0), folder), name, node.child);
    await target.fleet.kill(node);
    await restarted(target, load);
  };

export const singleProcess: Group<TestFleet, FleetLoad> = {
  name: 'one process, SQLite',
  open,
  load: startLoad,
  faults: {
    'killed at any moment': anyProcess,
    'killed while it replaces the checkpoint': killedAt('ledger', /^checkpoint.*\.new$/, 0),
    'killed while it saves the snapshot of the index, or stops': killedAt('', /^index\.snapshot.*\.new$/, 'SIGTERM'),
    'killed while it prunes old events': prune(only),
    'a backup, or the service during one, killed': backup,
    'a rotation of the signing keys killed': rotation(async () => {}),
    [`disk full (${DISK_MB} MB)`]: async ({ disk }, load) => {
      if (!disk) return 'this user may not mount a file system';
      disk.fill();
      await load.refuses(5);
      disk.clear();
      await load.goesOn();
      return undefined;
    },
    'a second process in a container of its own': async (target, load) => {
      const [program = '', ...args] = [...CONTAINER, 'true'];
      if (spawnSync(program, args).status !== 0) return 'this user may not make PID namespaces';
      const start = async () => {
        await using _second = await startServe(target.dataOf(0), {}, CONTAINER);
      };
      const message = /^strata: .+lock is held by process \d+ on \S+ since \S+: another process of this service uses/;
      await assert.rejects(start(), { message });
      await load.goesOn(5);
      return undefined;
    },
    'clock set back by two minutes, and by an hour': (target, load) =>
      jump(target, [-2 * MINUTE_MS, -60 * MINUTE_MS], async (ms) => {
        // More than five minutes before its key was made it signs nothing.
        if (ms === -60 * MINUTE_MS) await load.refuses(5);
        else await load.goesOn(5);
        await delay(100);
      }),
  },
};
