// What becomes of processes at work when PostgreSQL is restarted, cut off, slow, out of connections or out of disk: they say so in
// bounded time, lose nothing that was acknowledged, double nothing, and go on by themselves. The same processes go through all of it.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { type BadLink, startBadLink } from '../../support/bad-link.ts';
import { type PostgresServer, startPostgres } from '../../support/database/postgres.ts';
import { type Fleet, type FleetAtWork, startFleet } from '../../support/fleet.ts';
import { type FleetLoad, startLoad } from '../../support/fleet-load.ts';
import { get } from '../../support/node-answers.ts';
import type { TestNode } from '../../support/nodes.ts';
import { mountSmallDisk, type SmallDisk } from '../../support/small-disk.ts';
import { untilAnswer } from '../../support/until.ts';

/** Set it to 10 for a long run. */
const TIMES = Number(process.env.STRATA_TEST_FAULTS ?? 1);
/** Whom the processes connect as. The server counts their connections, but not those of its superuser. */
const ROLE = 'fleet';

/** 0 when the connection closed before the answer. */
const statusOf = ({ base }: TestNode, where: string) =>
  fetch(base + where).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 0,
  );

describe('processes whose PostgreSQL fails', { skip: postgres.skip }, () => {
  const stack = new AsyncDisposableStack();
  let disk: SmallDisk | undefined;
  let server: PostgresServer;
  let link: BadLink;
  let target: FleetAtWork;
  let fleet: Fleet;

  before(async () => {
    const small = mountSmallDisk(400);
    disk = small && stack.use(small);
    const data = disk && path.join(disk.path, 'data');
    if (data) mkdirSync(data);
    server = stack.use(await startPostgres({}, data ? { data } : {}));
    await server.sql(`create role ${ROLE} login in role strata`);
    const databaseUrl = Object.assign(new URL(await server.fresh()), { username: ROLE }).href;
    link = stack.use(await startBadLink(databaseUrl));
    target = stack.use(await startFleet(databaseUrl, { reachedAt: link.url }));
    ({ fleet } = target);
  });
  after(() => stack.disposeAsync());

  const statuses = (where = '/ready') => Promise.all(fleet.all().map((node) => statusOf(node, where)));

  /** Load before, during and after a fault, and then all the checks. */
  async function through(fault: (load: FleetLoad) => Promise<void>): Promise<void> {
    const load = await startLoad(target);
    try {
      await load.goesOn();
      for (let time = 0; time < TIMES; time += 1) {
        await fault(load);
        await load.goesOn();
        await untilAnswer('all are ready again', statuses, (all) => all.every((status) => status === 200));
      }
    } finally {
      await load.stop();
      for (const { role, child, log } of fleet.all())
        if (child.exitCode !== null || child.signalCode !== null || log().includes('moving domain:'))
          console.log(`a ${role} has a log to read: ${log().slice(-4_000)}`);
      // A failure here must not fail the next test.
      link.become({ kind: 'ok' });
      disk?.clear();
      await server.sql('select 1').catch(() => server.start());
    }
    console.log(await load.check());
    for (const { child, role } of fleet.all())
      assert.deepEqual([child.exitCode, child.signalCode], [null, null], `a ${role} has ended`);
  }

  /** They report that they are alive and not ready. */
  async function saysSo(load: FleetLoad): Promise<void> {
    await untilAnswer('no process is ready', statuses, (all) => all.every((status) => status === 503));
    assert.deepEqual(new Set(await statuses('/health')), new Set([200]), 'each lives');
    await load.refuses();
  }

  const FAULTS: Readonly<Record<string, (load: FleetLoad) => Promise<void>>> = {
    'go on when it was restarted, in order and by a crash': async (load) => {
      for (const how of ['fast', 'immediate', 'crash'] as const) {
        if (how === 'crash') await server.kill();
        else await server.stop(how);
        if (how === 'immediate') await saysSo(load);
        await server.start();
        await load.goesOn(5);
      }
    },
    'go on when the way to it was cut': async (load) => {
      link.become({ kind: 'reset' });
      await saysSo(load);
      link.become({ kind: 'ok' });
    },
    'refuse in bounded time when it falls silent, and go on': async (load) => {
      link.become({ kind: 'silent' });
      await saysSo(load);
      // Real: the silence of a network has no event. Any length does, and a busy machine makes it longer.
      await delay(3_000);
      link.become({ kind: 'ok' });
    },
    'answer when it is slow': async (load) => {
      link.become({ kind: 'slow', ms: 300 });
      await load.goesOn(10);
      link.become({ kind: 'ok' });
    },
    'say that it takes no more connections, and go on when it does': async (load) => {
      await server.sql(`alter role ${ROLE} connection limit 0`);
      try {
        await server.sql(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${ROLE}'`);
        await saysSo(load);
        for (const node of fleet.all()) {
          if (node.role === 'scanner') continue;
          const isLogged = () => /accepts no more connections/.test(node.log());
          await untilAnswer(`the log of the ${node.role} says what it is`, isLogged);
        }
      } finally {
        await server.sql(`alter role ${ROLE} connection limit -1`);
      }
    },
  };
  for (const [what, fault] of Object.entries(FAULTS)) it(what, { timeout: 900_000 }, () => through(fault));

  it('refuse writes while its disk is full, read on, and continue when there is space', {
    timeout: 900_000,
  }, async (t) => {
    const full = disk;
    if (!full) return t.skip('no file system can be mounted here');
    await through(async (load) => {
      const { base } = await fleet.api();
      const reads = [
        '/ledger/checkpoint',
        `/ledger/receipts/${[...load.received.answers.keys()][0]}`,
        '/.well-known/stack-keys.json',
      ];
      const before = load.statuses[503] ?? 0;
      await untilAnswer('clients are refused', () => {
        // Repeatedly: a checkpoint of the server frees space.
        full.fill();
        return (load.statuses[503] ?? 0) >= before + 10;
      });
      const isLogged = () => fleet.all().some((node) => node.log().includes('The disk is full'));
      await untilAnswer('a log says what it is', isLogged);
      for (const where of reads) assert.equal((await get({ base }, where, load.key)).status, 200, where);
      assert.deepEqual(new Set(await statuses()), new Set([200]), 'the database answers');
      full.clear();
    });
  });
});
