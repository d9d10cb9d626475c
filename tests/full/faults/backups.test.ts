// Backups and restores that are interrupted or killed at several moments: the result is complete or does not look like a backup,
// the source is as it was, and the same command, run again, does it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { strataProcess } from '../../../services/cli/src/test/run-strata.ts';
import { randomFrom, temporaryDirectory } from '../../support/index.ts';
import { fillStore, type ServeProcess, settingsOf, startServe } from '../../support/serve-process.ts';
import { fails, succeeds } from '../../support/strata-stack.ts';

/** Set it to 10 for a long run. */
const TIMES = Number(process.env.STRATA_TEST_FAULTS ?? 1);
const SIGNALS = ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGINT'] as const;
/** Of the time that it takes without an interruption. */
const CUT_AT = [0.1, 0.35, 0.6, 0.85] as const;
const DOMAINS = 4_000;

type Env = Readonly<Record<string, string>>;

interface CutOptions {
  /** Exists when the command has begun to write. */
  readonly sign: string;
  readonly signal?: NodeJS.Signals | undefined;
  readonly afterMs?: number;
}

/** Runs a command, and ends it by the signal so long after it began to write; reports how long it wrote. */
async function cutOff(args: readonly string[], env: Env, { sign, signal: cut, afterMs = 0 }: CutOptions) {
  const started = strataProcess(['stack', ...args], env);
  const child = spawn(started.command, started.args, { env: started.env, stdio: ['ignore', 'ignore', 'pipe'] });
  const printed = text(child.stderr);
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  while (!existsSync(sign) && isRunning()) await delay(1);
  const begunAt = performance.now();
  if (cut) {
    await Promise.race([delay(afterMs), ended]);
    child.kill(cut);
  } else while (existsSync(sign) && isRunning()) await delay(1);
  const tookMs = performance.now() - begunAt;
  const [code, signal] = await ended;
  return { code, signal, stderr: await printed, tookMs };
}

describe('a backup that is cut off', () => {
  const stack = new AsyncDisposableStack();
  let env: Env;
  let backups: string;
  let service: ServeProcess;
  let key: string;
  const receipts: string[] = [];
  /** Complete, for restores. */
  let set: string;

  const random = randomFrom(1);
  const work = async (requests: number) => {
    for (let n = 0; n < requests; n += 1) {
      const answer = await service.get(`/stack/v1/domains/d${Math.floor(random() * DOMAINS)}.com`, key);
      const { provenance } = (await answer.json()) as { provenance: { ledger_receipt_id: string } };
      receipts.push(provenance.ledger_receipt_id);
    }
  };

  before(async () => {
    const directory = stack.use(await temporaryDirectory());
    ({ path: backups } = stack.use(await temporaryDirectory()));
    ({ free: key } = await fillStore(path.join(directory.path, 'strata.db'), DOMAINS));
    env = settingsOf(directory.path);
    service = stack.use(await startServe(directory.path));
    await work(300);
    set = path.join(backups, 'set');
  });
  after(() => stack.disposeAsync());

  it('is complete or absent, changes nothing, and succeeds when it is repeated', {
    timeout: 900_000,
  }, async () => {
    const sign = path.join(backups, '.set.unfinished');
    const first = await cutOff(['backup', set, '--keys', `${set}.keys`], env, { sign });
    assert.equal(first.code, 0, first.stderr);
    const ends: Record<string, number> = {};
    for (let n = 0; n < SIGNALS.length * TIMES; n += 1) {
      const signal = SIGNALS[n % SIGNALS.length];
      const name = path.join(backups, `cut-${n}`);
      const unfinished = path.join(backups, `.cut-${n}.unfinished`);
      const working = work(20);
      const afterMs = (CUT_AT[n % CUT_AT.length] ?? 0) * first.tookMs;
      const cut = { sign: unfinished, signal, afterMs };
      const ended = await cutOff(['backup', name, '--keys', `${name}.keys`], env, cut);
      await working;
      const isThere = existsSync(name);
      const end = `${signal} ${isThere ? 'too late' : 'in time'}`;
      ends[end] = (ends[end] ?? 0) + 1;
      if (isThere) {
        await succeeds(['backup', '--verify', name], env);
        continue;
      }
      assert.notEqual(ended.code, 0);
      if (signal !== 'SIGKILL') {
        assert.match(ended.stderr, /interrupted: the backup was removed/);
        assert.ok(!existsSync(unfinished) && !existsSync(`${name}.keys`), 'nothing is left');
      }
      await rm(`${name}.keys`, { force: true });
      for (const command of [['backup', '--verify'], ['restore']])
        await fails([...command, name], { ...env, STRATA_DATA: path.join(backups, 'none') }, 2);
      // All that it lacks may be its name.
      if (existsSync(path.join(unfinished, 'manifest.json'))) continue;
      if (existsSync(unfinished)) await fails(['backup', '--verify', unfinished], env, 2);
    }
    assert.match(JSON.stringify(ends), /in time/);
    await succeeds(['backup', path.join(backups, 'cut-0-again')], env);
    await succeeds(['check-store'], env);
    for (const id of receipts) assert.equal((await service.get(`/ledger/receipts/${id}`)).status, 200);
    console.log(`backups ${JSON.stringify(ends)}, ${receipts.length} receipts issued in this time`);
  });

  it('and put back: what was there, all of it, or a service that does not start', { timeout: 900_000 }, async () => {
    if (!existsSync(set)) await succeeds(['backup', set, '--keys', `${set}.keys`], env);
    await using old = await temporaryDirectory();
    const { free: oldKey } = await fillStore(path.join(old.path, 'strata.db'), 3);
    {
      await using first = await startServe(old.path);
      assert.equal((await first.get('/stack/v1/domains/d2.com', oldKey)).status, 200);
    }
    const ends: Record<string, number> = {};
    let tookMs = 0;
    for (let n = 0; n < SIGNALS.length * TIMES; n += 1) {
      const data = path.join(backups, `data-${n}`);
      await cp(old.path, data, { recursive: true });
      const here = settingsOf(data);
      const args = ['restore', set, '--keys', `${set}.keys`, '--replace'];
      const sign = path.join(data, 'restoring');
      // The first one ends, to measure how long one takes.
      const signal = n === 0 ? undefined : SIGNALS[n % SIGNALS.length];
      const afterMs = (CUT_AT[(n - 1) % CUT_AT.length] ?? 0) * tookMs;
      const ended = await cutOff(args, here, { sign, signal, afterMs });
      if (!signal) tookMs = ended.tookMs;
      const state = await stateOf(data, oldKey);
      const end = `${signal ?? 'none'}: ${state}`;
      ends[end] = (ends[end] ?? 0) + 1;
      if (!signal) assert.equal(state, 'new', ended.stderr);
      if (state === 'new') continue;
      assert.notEqual(ended.code, 0, 'it does not say that it was done');
      await succeeds(args, here);
      assert.equal(await stateOf(data, oldKey), 'new');
    }
    assert.match(JSON.stringify(ends), /"SIG\w+: (?:old|closed)"/, 'one was cut off in time');
    console.log(`restores ${JSON.stringify(ends)}`);
  });

  /** What a service finds in a directory; asserts that it is all of it. */
  async function stateOf(data: string, oldKey: string): Promise<'old' | 'new' | 'closed'> {
    const started = await startServe(data).catch((error: Error) => error);
    if (started instanceof Error) {
      assert.match(started.message, /a restore .* was interrupted/);
      return 'closed';
    }
    await using served = started;
    const isNew = (await served.get('/stack/v1/domains/d3.com', key)).status === 200;
    assert.equal((await served.get('/stack/v1/domains/d2.com', oldKey)).status, isNew ? 401 : 200);
    if (isNew)
      for (const id of receipts.slice(0, 300)) assert.equal((await served.get(`/ledger/receipts/${id}`)).status, 200);
    await served.kill();
    await succeeds(['check-store'], settingsOf(data));
    return isNew ? 'new' : 'old';
  }
});
