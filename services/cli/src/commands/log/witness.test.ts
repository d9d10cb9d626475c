// Witnesses over sockets, a service whose ledger they cosign, verifiers that require them, and copies of the log.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { it } from 'node:test';
import { StackClient } from '@strata/client';
import { createLogger } from '@strata/http';
import { Witness } from '@strata/log';
import * as receipts from '@strata/receipts';
import { readConfig, startStack } from '@strata/stack';
import { ed25519Key, temporaryDirectory, until } from '../../../../../tests/support/index.ts';
import { readStaticLog, serveFolder } from '../../../../../tests/support/static-log.ts';
import { assertEnds, jsonOf, runStrata, succeed } from '../../test/run-strata.ts';
import { readWitnessConfig } from './witness-config.ts';
import { serveWitness } from './witness-server.ts';

const { formatAddCheckpoint, formatCheckpoint, formatVerifierKey, noteVerifier, parseVerifierKey, signNote } = receipts;

const logger = createLogger({ level: 'silent' });
const textOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).text();

/** A witness on a port of its own, which knows the log of this key. */
async function startWitness(name: string, key = '', changes: Partial<Parameters<typeof serveWitness>[1]> = {}) {
  await using stack = new AsyncDisposableStack();
  const { logs } = readWitnessConfig({ STRATA_WITNESS_LOGS: key });
  const directory = stack.use(await temporaryDirectory()).path;
  const witness = stack.use(await Witness.open({ directory, name, logs, now: () => new Date() }));
  const options = { host: '127.0.0.1', port: 0, requestsPerSecond: 10_000, logger, ...changes };
  const server = stack.use(await serveWitness(witness, options));
  const named = { key: witness.verifierKey, url: `http://127.0.0.1:${server.port}` };
  return Object.assign(stack.move(), named);
}

it('a ledger is cosigned for verifiers; it answers without witnesses, and does not open with fewer leaves', async () => {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const data = path.join(directory, 'data');
  const off = { STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' };
  const ports = { STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_RESOLVERS: '127.0.0.1:9' };
  const start = (more: Record<string, string> = {}) =>
    startStack(readConfig({ STRATA_DATA: data, ...off, ...ports, ...more }), logger);
  const first = await start();
  const [ledgerKey = ''] = first.app.ledger.keySet().ledger.verifier_keys;
  await first[Symbol.asyncDispose]();
  const { publicKey } = parseVerifierKey(ledgerKey) ?? assert.fail(ledgerKey);
  const open = async (name: string) => stack.use(await startWitness(name, ledgerKey));
  const [one, other, unknown] = [await open('a.example'), await open('b.example'), await open('c.example')];
  const settings = { STRATA_WITNESSES: `${one.key} ${one.url}/, ${other.key} ${other.url}` };
  {
    await using running = await start(settings);
    const base = `http://127.0.0.1:${running.port}`;
    const verify = (code: number, words: RegExp, ...more: string[]) =>
      assertEnds(['stack', 'verify', `${base}/health`, '--witness', ...more], code, words);
    const { stdout } = await verify(0, /^$/, one.key, other.key);
    assert.match(stdout, / It is cosigned by 2 of 2 witnesses \(.+\)\.\n/);
    await verify(0, /^$/, one.key, other.key, unknown.key, '--witnesses-required', '2');
    await verify(1, /step 'checkpoint' failed/, one.key, unknown.key);
    await verify(2, /--witness: .+ is not the verifier key of a witness/, ledgerKey);
    const client = new StackClient({ baseUrl: base });
    const health = await client.get('/health');
    const failedStep = async (...keys: string[]) => {
      const verification = await client.verify(health, { witnesses: { keys, required: 2 } });
      return 'steps' in verification && verification.steps.find(({ ok }) => !ok)?.step;
    };
    assert.equal(await failedStep(one.key, other.key), undefined);
    assert.equal(await failedStep(one.key, unknown.key), 'checkpoint');

    const copy = path.join(directory, 'copy');
    const publish = (from: string, to: string, key = ledgerKey) => ['log', 'publish', from, to, '--ledger-key', key];
    const { size, added } = await jsonOf([...publish(`${base}/ledger/`, copy), '--json']);
    assert.deepEqual([size, added], [running.app.ledger.log.size, size]);
    await using server = await serveFolder(copy);
    const before = await readStaticLog(server.base, publicKey);
    assert.match(before.note, /^— a\.example .+\n— b\.example /m);
    await succeed(publish(server.base, path.join(directory, 'copy of the copy')));
    await assertEnds(publish(base, copy, one.key), 2, /is not a verifier key of a log/);
    await assertEnds(publish(`${base}/none`, copy), 1, /the log serves no checkpoint/);

    const ready = async () => JSON.parse(await textOf(`${base}/ready`));
    assert.deepEqual((await ready()).witnesses, { required: 2, cosigning: 2, missing: [] });
    await other[Symbol.asyncDispose]();
    await textOf(`${base}/keys`, { method: 'POST' });
    await until(async () => (await ready()).witnesses.cosigning === 1);
    const witnesses = { required: 2, cosigning: 1, missing: ['b.example'] };
    assert.deepEqual(await ready(), { status: 'ready', witnesses });
    const metrics = await textOf(`http://127.0.0.1:${running.metricsPort}/metrics`);
    assert.match(metrics, /^strata_ledger_witnesses\{what="cosigning"\} 1$/m);
  }
  // Both of its own checkpoints are lost with the leaves; a witness has another.
  for (const lost of ['ledger/ledger.db', 'ledger/checkpoint', 'strata.db']) await rm(path.join(data, lost));
  const message = /^the witness a\.example has cosigned \d+ leaves of the log \S+\/stack, but there are \d+$/;
  await assert.rejects(start(settings), { name: 'LogError', code: 'lost-leaves', message });
});

it('strata log witness prints its key, serves until it is interrupted, and needs a name and logs', async () => {
  await using directory = await temporaryDirectory();
  const named = { STRATA_DATA: directory.path, STRATA_WITNESS_NAME: 'witness.example/w1', STRATA_WITNESS_PORT: '0' };
  const { stdout } = await succeed('log witness --print-key', { env: named });
  assert.match(stdout, /^witness\.example\/w1\+[0-9a-f]{8}\+B[\w+/]{43}\n$/);
  const logs = 'strata.example/ledger+31fece9c+AYE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU';
  const env = { ...named, STRATA_WITNESS_LOGS: `${logs}, other.example/log ${logs}` };
  let asked = '';
  const whileAt = async ({ matched }: { readonly matched: RegExpExecArray }) => {
    asked = await textOf(matched[1] ?? '');
  };
  const outcome = await runStrata('log witness', { env, interruptAt: /"url":"(http:[^"]+)"/, whileAt });
  assert.deepEqual([outcome.code, asked, outcome.stdout], [0, stdout, stdout]);
  for (const [changed, words] of [
    [{ STRATA_WITNESS_NAME: '' }, /STRATA_WITNESS_NAME is not set/],
    [{ STRATA_WITNESS_LOGS: '' }, /no log to witness; set STRATA_WITNESS_LOGS/],
    [{ STRATA_WITNESS_LOGS: stdout.trim() }, /STRATA_WITNESS_LOGS: .+ is not the verifier key of a log/],
  ] as const)
    await assertEnds('log witness', 2, words, { env: { ...env, ...changed } });
});

it('strata log witness limits the size of requests, and the requests of one address', async () => {
  await using witness = await startWitness('a.example', '', { requestsPerSecond: 7 });
  const status = async (at: string, init: RequestInit = {}) => (await fetch(witness.url + at, init)).status;
  const post = (body: string) => status('/add-checkpoint', { method: 'POST', body });
  const paths = ['/health', `/${'a'.repeat(64)}/checkpoint`, '/keys', '/add-checkpoint'];
  const statuses = [...(await Promise.all(paths.map((at) => status(at)))), await post('old 0\n\nother.example\n0\n')];
  assert.deepEqual(statuses, [200, 404, 404, 405, 400]);
  assert.equal(await post('x'.repeat(70_000)).catch(() => 413), 413);
  await until(async () => (await Promise.all(Array.from({ length: 8 }, () => status('/health')))).includes(429));
});

it('strata log witness logs evidence of a fork once, without added signatures, and limits the rate', async () => {
  const [signer, warned] = [{ name: 'log.example', ...ed25519Key(1) }, [] as unknown[]];
  const recorder = Object.assign(createLogger({ level: 'silent' }), { warn: (facts: unknown) => warned.push(facts) });
  const key = formatVerifierKey(noteVerifier(signer.name, signer.publicKey));
  const changes = { logger: recorder, limits: { evidencePerHour: 1 } };
  await using witness = await startWitness('a.example', key, changes);
  const noteOf = (size: number) =>
    signNote(formatCheckpoint({ origin: signer.name, size, root: new Uint8Array(32) }), [signer]);
  const status = async (oldSize: number, size: number, proof: readonly Uint8Array[]) => {
    const checkpoint = `${noteOf(size)}— unknown ${'AAAA'.repeat(9_000)}\n`;
    const body = formatAddCheckpoint({ oldSize, proof, checkpoint });
    return (await fetch(`${witness.url}/add-checkpoint`, { method: 'POST', body })).status;
  };
  assert.equal(await status(0, 5, []), 200);
  for (const size of [5, 6, 6, 7]) assert.equal(await status(5, size, [new Uint8Array(32)]), 422);
  assert.deepEqual(warned, [{ checkpoint: noteOf(6) }]);
});

it('strata log witness limits the connections of one address, and the duration of requests', async () => {
  const changes = { limits: { connections: 4, headersMs: 100 } };
  await using witness = await startWitness('a.example', '', changes);
  const sockets = Array.from({ length: 4 }, () => connect(Number(new URL(witness.url).port), '127.0.0.1').resume());
  const openNow = () => sockets.filter((socket) => !socket.destroyed).length;
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\n');
  await Promise.race(sockets.map((socket) => once(socket, 'close')));
  assert.equal(openNow(), 3, 'three quarters of all');
  await until(() => openNow() === 0, { limitMs: 10_000, what: 'no headers came' });
});
