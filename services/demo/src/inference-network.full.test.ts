// The demo's network with real processes: killed workers are restarted, and all processes end with it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '@strata/http';
import { tinyChatModel } from '@strata/testnet';
import { freePort } from '../../../tests/support/free-port.ts';
import { startInferenceNetwork } from './inference-network.ts';

describe("the demo's network", { timeout: 120_000 }, () => {
  let directory: string;
  let port: number;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'strata-demo-test-'));
    port = await freePort();
  });
  after(async () => {
    await rm(directory, { recursive: true, force: true });
  });
  const explorerUrl = 'http://127.0.0.1:1';
  const fixed = { modelFile: tinyChatModel, logLevel: 'silent', explorerUrl, explorerKey: 'ssk_none' };
  const options = (signal: AbortSignal) => ({ ...fixed, directory, port, signal });

  it('offers free keys, restarts a killed worker, and ends all processes', async () => {
    const restarted = Promise.withResolvers<string>();
    const print = (line: string) => (line.includes('restarted') ? restarted.resolve(line) : undefined);
    const network = await startInferenceNetwork(options(new AbortController().signal), print);
    const [killed = 0, other = 0] = network.workers();
    process.kill(killed, 'SIGKILL');
    const [, next] = /^worker 1 restarted as process (\d+)$/.exec(await restarted.promise) ?? [];
    assert.deepEqual([...network.workers()].sort(), [Number(next), other].sort());
    const { totals } = (await (await fetch(`${network.base}/network`)).json()) as { totals: { workers: number } };
    assert.ok(totals.workers >= 1);
    // A visitor of the page.
    const site = (await (await fetch(`${network.base}/site.json`)).json()) as Record<string, unknown>;
    assert.equal(site.explorer_url, explorerUrl);
    assert.ok(Number(site.free_keys_per_day) > 0);
    assert.equal((await fetch(`${network.base}/keys`, { method: 'POST' })).status, 201);
    await network[Symbol.asyncDispose]();
    for (const pid of [Number(next), other]) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  it('ends while it starts', async () => {
    const leaving = new AbortController();
    const starting = startInferenceNetwork(options(leaving.signal), () => {});
    const rejected = assert.rejects(starting, StartError);
    await sleep(500);
    leaving.abort();
    await rejected;
  });
});
