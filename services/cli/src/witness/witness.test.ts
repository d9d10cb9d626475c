// Witnesses over sockets, a service that has its ledger cosigned by them, and what verifiers and copies make of it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { Witness } from '@strata/log';
import { parseVerifierKey } from '@strata/receipts';
import { readConfig, startStack } from '@strata/stack';
import { readStaticLog, serveFolder } from '../../../../tests/support/static-log.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { until } from '../../../../tests/support/until.ts';
import { liveService } from '../test/live-service.ts';
import { assertEnds, jsonOf, runStrata, succeed } from '../test/run-strata.ts';
import { Environment, readWitnessConfig } from './config.ts';
import { serveWitness } from './server.ts';

const logger = createLogger({ level: 'silent' });

/** A witness on a port of its own, which knows these logs. */
async function startWitness(directory: string, name: string, keys: readonly string[], requestsPerSecond = 10_000) {
  await using stack = new AsyncDisposableStack();
  const { logs } = readWitnessConfig({ STRATA_WITNESS_LOGS: keys.join(',') });
  const witness = stack.use(
    await Witness.open({ directory: path.join(directory, name), name, logs, now: () => new Date() }),
  );
  const server = stack.use(await serveWitness(witness, { host: '127.0.0.1', port: 0, requestsPerSecond, logger }));
  const owned = stack.move();
  const url = `http://127.0.0.1:${server.port}`;
  return { key: witness.verifierKey, url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

describe('a service with two witnesses', () => {
  it('has its ledger cosigned, which verifiers demand; it answers on without them, and does not start with less', async () => {
    await using stack = new AsyncDisposableStack();
    const { internet } = await liveService();
    const directory = stack.use(await temporaryDirectory()).path;
    const data = path.join(directory, 'data');
    const start = (more: Record<string, string> = {}) => {
      const ports = { STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0' };
      const quiet = { STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' };
      return startStack(readConfig({ STRATA_DATA: data, ...ports, ...quiet, ...more }), logger, {
        dial: (to) => internet.dial(to),
      });
    };
    const ledgerKey = await start().then(async (running) => {
      await using owned = running;
      return owned.service.app.ledger.keySet().ledger.verifier_keys[0] ?? assert.fail();
    });
    const witnesses = await Promise.all(
      ['a.example', 'b.example'].map((name) => startWitness(directory, name, [ledgerKey])),
    );
    const settings = { STRATA_WITNESSES: witnesses.map(({ key, url }) => `${key} ${url}/`).join(', ') };
    const keys = witnesses.map(({ key }) => key);
    const ask = async (at: string) => {
      const response = await fetch(at);
      return { status: response.status, text: await response.text() };
    };
    {
      await using running = await start(settings);
      const base = `http://127.0.0.1:${running.port}`;
      const verify = (code: number, words: RegExp, ...more: string[]) =>
        assertEnds(['stack', 'verify', `${base}/health`, '--witness', ...more], code, words);
      const { stdout } = await verify(0, /^$/, ...keys);
      assert.match(stdout, /2 of 2 witnesses have cosigned the checkpoint \(.+\)\.\n$/);
      const stranger = await startWitness(directory, 'c.example', [ledgerKey]);
      stack.use(stranger);
      await verify(0, /^$/, ...keys, stranger.key, '--witnesses-required', '2');
      await verify(1, /step 'checkpoint' failed/, ...keys, stranger.key);
      await verify(2, /--witness: .+ named twice/, keys[0] ?? '', keys[0] ?? '');
      await verify(2, /--witness: .+ is not the verifier key of a witness/, ledgerKey);
      assert.equal((await ask(`${base}/ledger/checkpoint`)).text.match(/^— [ab]\.example /gm)?.length, 2);

      const copy = path.join(directory, 'copy');
      const publish = ['log', 'publish', `${base}/ledger/`, copy, '--ledger-key', ledgerKey];
      const { size, added } = await jsonOf([...publish, '--json']);
      assert.deepEqual([size, added], [await running.service.app.ledger.log.size, size]);
      await using server = await serveFolder(copy);
      const { publicKey } = parseVerifierKey(ledgerKey) ?? assert.fail();
      const before = await readStaticLog(server.base, publicKey);
      assert.match(before.note, /^— a\.example /m, 'with its cosignatures');
      await ask(`${base}/nowhere`);
      await ask(`${base}/keys`);
      await until(async () => !/, 0 of them new/.test((await succeed(publish)).stdout));
      const mirrored = ['log', 'publish', server.base, path.join(directory, 'mirror'), '--ledger-key', ledgerKey];
      await succeed(mirrored);
      assert.ok((await readStaticLog(server.base, publicKey, before)).leaves.length > before.leaves.length);
      await assertEnds(publish.with(-1, keys[0] ?? ''), 2, /is not the verifier key of a log/);
      await assertEnds(publish.with(2, `${base}/nothing`), 1, /checkpoint of the log is not trusted/);

      const ready = async () => JSON.parse((await ask(`${base}/ready`)).text).witnesses;
      assert.deepEqual(await ready(), { required: 2, cosigning: 2, missing: [] });
      await witnesses[1]?.[Symbol.asyncDispose]();
      await fetch(`${base}/keys`, { method: 'POST' });
      await until(async () => (await ready()).cosigning === 1);
      assert.deepEqual([(await ask(`${base}/ready`)).status, (await ready()).missing], [200, ['b.example']]);
      await verify(0, /^$/, ...keys, '--witnesses-required', '1');
      const { text } = await ask(`http://127.0.0.1:${running.metricsPort}/metrics`);
      for (const line of ['strata_ledger_witnesses{what="required"} 2', 'strata_ledger_witnesses{what="cosigning"} 1'])
        assert.ok(text.includes(line), line);
      assert.match(text, /^strata_ledger_cosigned_leaves \d+$/m);
    }
    // Both of its own checkpoints are lost with the leaves; the witness has another.
    const ledger = path.join(data, 'ledger');
    const [segment = ''] = readdirSync(path.join(ledger, 'journal'));
    const journal = path.join(ledger, 'journal', segment);
    writeFileSync(journal, readFileSync(journal).subarray(0, 300));
    for (const lost of [path.join(ledger, 'checkpoint'), path.join(data, 'strata.db')]) await rm(lost);
    const cosigned =
      /^the witness a\.example has cosigned \d+ leaves of the log localhost\/strata\/stack, there are \d+$/;
    await assert.rejects(start(settings), { name: 'LogError', code: 'lost-leaves', message: cosigned });
    await witnesses[0]?.[Symbol.asyncDispose]();
  });
});

describe('strata log witness', () => {
  it('prints its key, serves until it is interrupted, and needs a name and logs', async () => {
    await using directory = await temporaryDirectory();
    const [name, port] = ['witness.example/w1', '0'];
    const env = { STRATA_DATA: directory.path, STRATA_WITNESS_NAME: name, STRATA_WITNESS_PORT: port };
    await assertEnds('log witness', 2, /no name: choose one for ever with STRATA_WITNESS_NAME/);
    await assertEnds('log witness', 2, /no log to witness: name the verifier keys of logs/, { env });
    const { stdout } = await succeed('log witness --print-key', { env });
    assert.match(stdout, /^witness\.example\/w1\+[0-9a-f]{8}\+B[\w+/]{43}\n$/);
    const logs = 'strata.example/ledger+31fece9c+AYE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU';
    let asked = '';
    const outcome = await runStrata('log witness', {
      env: { ...env, STRATA_WITNESS_LOGS: logs },
      interruptAt: /"url":"(http:[^"]+)"/,
      whileAt: async ({ matched: [, url] }) => {
        asked = await (await fetch(url ?? '')).text();
      },
    });
    assert.deepEqual([outcome.code, asked, outcome.stdout], [0, stdout, stdout]);
    for (const [variable, value] of [
      ['STRATA_WITNESS_NAME', 'two words'],
      ['STRATA_WITNESS_LOGS', stdout.trim()],
      ['STRATA_WITNESS_PORT', '99999'],
    ] as const)
      await assertEnds('log witness', 2, new RegExp(`^strata: a setting cannot be used\n  ${variable}: `), {
        env: { ...env, [variable]: value },
      });
  });

  it('bounds what it reads, and how often one address asks', async () => {
    await using directory = await temporaryDirectory();
    await using witness = await startWitness(directory.path, 'a.example', [], 8);
    const status = async (at: string, init: RequestInit = {}) => (await fetch(witness.url + at, init)).status;
    const post = (body: string) => status('/add-checkpoint', { method: 'POST', body });
    const statuses = [
      ...[await status('/health'), await status(`/${'a'.repeat(64)}/checkpoint`), await status('/../keys')],
      ...[await status('/add-checkpoint'), await status('/', { method: 'DELETE' })],
      ...[await post('old x'), await post('old 0\n\nother.example/log\n0\n')],
      await post('x'.repeat(70_000)).catch(() => 413),
    ];
    assert.deepEqual(statuses, [200, 404, 404, 405, 405, 400, 400, 413]);
    await until(async () => (await Promise.all(Array.from({ length: 9 }, () => status('/health')))).includes(429));
  });

  it('has its settings in docs/witnesses.md: every variable with its default, and no other', () => {
    const text = readFileSync(path.join(import.meta.dirname, '../../../../docs/witnesses.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `(STRATA_\w+)` \| (?:`([^`]*)`|[^|]*) \| .+ \|$/gm)];
    assert.deepEqual(rows.map(([, name]) => name).sort(), Object.keys(Environment.shape).sort());
    for (const [, name = '', written = ''] of rows) {
      const given = Environment.shape[name as keyof typeof Environment.shape].safeParse(undefined).data;
      if (given !== undefined) assert.equal(written, String(given), name);
    }
  });
});
