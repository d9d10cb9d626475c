// Two processes that record at once, one of them stopped before each of its steps: no scan or event is lost, doubled, skipped by a
// follower, or in another order. What is expected is computed here, and compared with rows and with what a follower has read.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkStore } from '@strata/db';
import { connect, terminate, untilWaiting } from '../../../../tests/support/database/connections.ts';
import { repeatDuring } from '../../../../tests/support/until.ts';
import { openStore, type StoredEvent, stackSchema } from './index.ts';
import { exec, onEach, postgres, rows } from './test/backends.ts';
import { confirm, day, GOOGLE, MICROSOFT, scanOf, withTxt } from './test/scans.ts';

/** The tables that a scan writes, in order, and its commit. Other batches wait from the first number on. */
const OWN = ['services', 'records', 'evidence', 'domains'] as const;
const NUMBERED = ['scans', 'changes', 'events', 'commit'] as const;
/** What becomes of a process that is stopped; `killed` after it has sent all, `ended` by the server. */
const FATES = ['goes on', 'killed', 'ended'] as const;

const STOPS = `
  create function stop() returns trigger language plpgsql as $$ begin
    if current_setting('strata.stop', true) = tg_argv[0] then perform pg_advisory_xact_lock_shared(7); end if;
    return null;
  end $$;
  create constraint trigger stop after insert on events deferrable initially deferred
    for each row execute function stop('commit');
  ${[...OWN, ...NUMBERED.slice(0, -1)]
    .map(
      (table) => `create trigger stop_${table} before insert or update on ${table} execute function stop('${table}');`,
    )
    .join('\n')}`;

const MOVED = ['google-site-verification=x', 'moved'];
const moved = (name: string, n: number) => withTxt(scanOf(name, day(n), MICROSOFT), MOVED);
const RECORD = `
  import { openStore } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))};
  import * as scans from ${JSON.stringify(path.join(import.meta.dirname, 'test/scans.ts'))};
  const store = await openStore(process.argv[1]);
  const scan = scans.withTxt(scans.scanOf(process.argv[2], scans.day(2), scans.MICROSOFT), ${JSON.stringify(MOVED)});
  await store.recordScans([scan], scans.confirm);`;

/** Another process, which can be killed. */
function startRecording(url: string, name: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', RECORD, url, name], { stdio: 'ignore' });
  return { end: once(child, 'exit'), kill: () => child.kill('SIGKILL') };
}

/** Another store of this process. */
async function record(url: string, name: string): Promise<void> {
  await using store = await openStore(url, { poolSize: 1 });
  await store.recordScans([moved(name, 2)], confirm);
}

onEach([postgres], 'two processes that record at once', (_backend, test) => {
  test('leave what one after the other leaves, wherever one of them stops', async (store, url) => {
    const cases = [...OWN, ...NUMBERED].flatMap((step) => FATES.map((fate) => ({ step, fate })));
    const names = cases.map((_, n) => [`a${n}.com`, `b${n}.com`] as const);
    await store.domains.add(names.flat(), { source: 'test' });
    for (const [n, to] of [GOOGLE, MICROSOFT].entries())
      await store.recordScans(
        names.flat().map((name) => scanOf(name, day(n), to)),
        confirm,
      );
    await exec(url, STOPS);
    await using gate = await connect(url);
    const followed: StoredEvent[] = [];
    const follow = async () => void followed.push(...(await store.events.since(followed.at(-1)?.seq ?? 0, 7)));
    const days = new Map<string, number[]>();
    const scan = async (...scans: readonly (readonly [string, number])[]) => {
      const results = await store.recordScans(
        scans.map(([name, n]) => moved(name, n)),
        confirm,
      );
      assert.ok(results.every(({ status }) => status === 'fulfilled'));
    };
    const hasScan = async (name: string, n: number) => {
      const of = `domain_id = (select id from domains where name = '${name}') and observed_at = ${Date.parse(day(n))}`;
      return (await rows(url, `select id from scans where ${of}`)).length === 1;
    };
    const runCase = async (step: string, fate: (typeof FATES)[number], [a, b]: readonly [string, string]) => {
      const where = `${fate} at ${step}`;
      await gate.query('select pg_advisory_lock(7)');
      const stopping = `${url}?application_name=stopping&options=-c%20strata.stop%3D${step}`;
      const killed = fate === 'killed' ? startRecording(stopping, a) : undefined;
      const end = killed?.end ?? record(stopping, a);
      await untilWaiting(url);
      let isRecorded = false;
      const other = scan([b, 2]).then(() => {
        isRecorded = true;
      });
      if (OWN.some((table) => table === step)) await other;
      else await untilWaiting(url, 2);
      assert.equal(
        isRecorded,
        OWN.some((table) => table === step),
        where,
      );
      // Of both domains: it waits for the row that the first has locked, and plans again.
      const both = scan([b, 3], [a, 3]);
      await untilWaiting(url, isRecorded ? 2 : 3);
      killed?.kill();
      if (fate === 'ended') await terminate(url, "application_name = 'stopping' and wait_event_type = 'Lock'");
      await gate.query('select pg_advisory_unlock(7)');
      await Promise.all([end, other, both]);
      // The server commits what a killed process has sent, unless it notices the closed connection before.
      const isCommitted = fate === 'killed' ? await hasScan(a, 2) : fate === 'goes on';
      days.set(a, isCommitted ? [0, 1, 2, 3] : [0, 1, 3]).set(b, [0, 1, 2, 3]);
    };
    const running = (async () => {
      for (const [n, { step, fate }] of cases.entries()) await runCase(step, fate, names[n] as [string, string]);
    })();
    await repeatDuring(running, () => Promise.all([follow(), delay(5)]));
    for (let read = -1; read < followed.length; await follow()) read = followed.length;

    // With a scan its change and its record are committed, or else those of the next scan are.
    const found = await rows(
      url,
      `select name, array_agg(observed_at::text order by scans.id) as scans, max(records.first_seen) as record,
          max(observed_at) filter (where scans.id = changes.scan_id) as change
        from domains join scans on scans.domain_id = domains.id
          join changes on changes.domain_id = domains.id
          join records on records.domain_id = domains.id and value = 'moved'
        group by name, changes.id, records.first_seen order by name`,
    );
    const expected = [...days].map(([name, each]) => {
      const times = each.map((n) => Date.parse(day(n)));
      return { name, scans: times.map(String), record: times[2], change: times[2] };
    });
    assert.deepEqual(
      found,
      expected.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    );
    const [events, changes] = [await rows(url, 'select seq, domain, kind from events order by seq'), names.flat()];
    assert.deepEqual(
      followed.map(({ seq, domain, kind }) => ({ seq, domain, kind })),
      events,
    );
    const confirmed = followed.filter(({ kind }) => kind === 'change-confirmed').map(({ domain }) => domain);
    assert.deepEqual(confirmed.toSorted(), changes.toSorted(), 'each domain has moved once');
    assert.deepEqual((await checkStore(stackSchema, url)).findings, []);
  });
});
