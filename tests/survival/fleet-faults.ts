// Faults of processes in roles: those that every fleet knows, whatever its store.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { strataProcess } from '../../services/cli/src/test/run-strata.ts';
import { rows } from '../../services/stack/src/store/test/backends.ts';
import type { FleetAtWork } from '../support/fleet.ts';
import type { FleetLoad } from '../support/fleet-load.ts';
import { randomFrom, untilAnswer } from '../support/index.ts';
import type { TestNode } from '../support/nodes.ts';
import { succeeds } from '../support/strata-stack.ts';

export type FaultyFleet = FleetAtWork & { readonly settings: Record<string, string>; readonly clocks: string };
const random = randomFrom(3);
const CLOCK = path.join(import.meta.dirname, '../support/shifted-clock.ts');

/** Settings that give each slot a clock of its own, which the file `<clocks>/<slot>` sets. */
export const withClock = (clocks: string, slot: number) => ({
  ...{ NODE_OPTIONS: `--import=${CLOCK}`, TEST_CLOCK_FILE: path.join(clocks, String(slot)) },
});

/** What the command line needs to work on the store of a fleet, with the data of its first slot. */
const envOf = (on: FleetAtWork) => ({ STRATA_DATA: on.dataOf(0), STRATA_DATABASE_URL: on.databaseUrl });

export async function restarted({ fleet }: FleetAtWork, load: FleetLoad): Promise<void> {
  await fleet.settled();
  await load.goesOn(5);
}

export const anyProcess = async (target: FaultyFleet, load: FleetLoad) => {
  await delay(random() * 500);
  await target.fleet.kill();
  // Wait until clients are answered after the last kill before the next one.
  await load.goesOn(5);
  await target.fleet.settled();
};

/** Resolves when a file of this name is there, or the process has ended. */
export async function untilFile(directory: string, name: RegExp, child: ChildProcess): Promise<void> {
  const isThere = () => existsSync(directory) && readdirSync(directory).some((each) => name.test(each));
  while (!isThere() && child.exitCode === null && child.signalCode === null) await nextTurn();
}

/** Starts a command on the target, and kills it when it writes. */
async function cutOff(target: FaultyFleet, args: readonly string[], directory: string, name: RegExp): Promise<void> {
  const { command, args: all, env } = strataProcess(['stack', ...args], envOf(target));
  const child = spawn(command, all, { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await untilFile(directory, name, child);
  await delay(random() * 20);
  child.kill('SIGKILL');
  await ended;
}

/** Kills the command while it writes, or else a process of the service; then the same command makes a complete backup. */
export const backup = async (target: FaultyFleet, load: FleetLoad, round: number) => {
  const set = path.join(target.clocks, `set-${round}`);
  const begun = new RegExp(`^\\.set-${round}\\.unfinished$`);
  if (round % 2 === 0) await cutOff(target, ['backup', set], target.clocks, begun);
  const making = existsSync(set) ? Promise.resolve('') : succeeds(['backup', set], envOf(target));
  if (round % 2 === 1) await target.fleet.kill();
  await making;
  await succeeds(['backup', '--verify', set], envOf(target));
  rmSync(set, { recursive: true });
  await restarted(target, load);
};

/** Old events are pruned when a scheduler begins: the process that prunes is killed at any moment of that. */
export const prune =
  (pruning: (target: FaultyFleet) => Promise<TestNode>) => async (target: FaultyFleet, load: FleetLoad) => {
    const old = `select seq from events where at < ${Date.now() - 86_400_000} limit 1`;
    if ((await rows(target.databaseUrl, old)).length === 0) return 'no old events are left';
    const oldest = async () => Number((await rows(target.databaseUrl, 'select min(seq) as seq from events'))[0]?.seq);
    const before = await oldest();
    for (const next of ['begins', 'is killed while it prunes', 'ends']) {
      if (next === 'ends') await untilAnswer('events are pruned', async () => (await oldest()) > before);
      target.settings.STRATA_RETENTION_DAYS = `events=${next === 'ends' ? 3650 : 1}`;
      await target.fleet.kill(await pruning(target));
      await target.fleet.settled();
      await delay(random() * 200);
    }
    await restarted(target, load);
    return undefined;
  };

/** A rotation is killed while it writes keys, and run again; `spread` gives the new keys to all. */
export const rotation =
  (spread: (target: FaultyFleet) => Promise<void>) => async (target: FaultyFleet, load: FleetLoad, round: number) => {
    const folder = round % 2 === 0 ? 'receipts' : 'ledger';
    await cutOff(target, ['keys', 'rotate-signing'], path.join(target.dataOf(0), 'keys', folder), /\.new$/);
    await succeeds(['keys', 'rotate-signing'], envOf(target));
    await spread(target);
    if (round % 2 === 1) await target.fleet.kill();
    await restarted(target, load);
  };

/** Clocks ahead by these offsets, one after the other, and back by them in every second slot; then right again. */
export async function jump(target: FaultyFleet, offsets: readonly number[], then: (offsetMs: number) => Promise<void>) {
  for (const ms of [...offsets, 0]) {
    const set = (slot: number) => writeFile(path.join(target.clocks, String(slot)), String(slot % 2 === 1 ? -ms : ms));
    await Promise.all([...target.fleet.all().keys()].map(set));
    // Real: each process reads its clock every 20 ms.
    await delay(500);
    await then(ms);
  }
}
