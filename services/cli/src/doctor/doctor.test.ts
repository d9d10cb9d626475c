// Each problem that `strata doctor` reports, provoked: with real sockets, files, databases and name servers.

import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { openStore as openGatewayStore } from '@strata/gateway/store';
import { openSignedLedger, rotateSigningKeys } from '@strata/log';
import { openStore } from '@strata/stack/store';
import { startInferenceServer } from '@strata/testnet';
import dns from 'dns-packet';
import { a, ns, reply, startDnsServer } from '../../../../tests/support/dns-server.ts';
import { casesOf, fakeService, temporaryDirectory } from '../../../../tests/support/index.ts';
import { assertEnds, jsonOf } from '../test/run-strata.ts';
import { judgeClock } from './clock.ts';
import { checkDatabase, needsOf } from './database.ts';
import { checkDisk, checkFileSystem, judgeDisk } from './disk.ts';
import type { Finding } from './finding.ts';
import { checkKeys } from './keys.ts';
import { judgeMemory, judgeOpenFiles } from './machine.ts';
import { checkModel } from './models.ts';
import { judgeNames } from './names.ts';
import { checkPort } from './ports.ts';
import { checkReach } from './reach.ts';
import { checkResolver } from './resolvers.ts';
import { checkEngine } from './upstreams.ts';

/** A finding that is not ok has a consequence. */
function is(expected: Finding['status'], { status, found, means }: Finding, words: RegExp) {
  assert.equal(status, expected, found);
  assert.match(found, words);
  assert.equal(means !== undefined, expected !== 'ok');
}

const GOOD = { isSilent: false, rcode: 0, lies: false, hasTcp: true, hasEdns: true, validates: true };
type Manners = Partial<typeof GOOD>;

/** A name server that knows `com.` alone; a good one, but for these manners. */
function nameServer(manners: Manners) {
  const { isSilent, rcode, lies, hasTcp, hasEdns, validates } = { ...GOOD, ...manners };
  return startDnsServer((question) => {
    const { name, transport, bytes } = question;
    if (isSilent) return [];
    if (transport === 'tcp' && !hasTcp) return { raw: Buffer.alloc(0) };
    const additionals = hasEdns ? (dns.decode(bytes).additionals ?? []) : [];
    const flags = validates ? dns.AUTHENTIC_DATA : 0;
    if (rcode !== 0) return [reply(question, { rcode, flags, additionals })];
    const answers = name === 'com' ? [ns(name, 'a.gtld-servers.net')] : lies ? [a(name, '192.0.2.80')] : [];
    return [reply(question, { rcode: answers.length > 0 ? 0 : 3, flags, answers, additionals })];
  });
}

it('strata doctor reports ports that are free, held by a running service of ours, or by another program', async () => {
  let body = '{"status":"ok"}';
  const other = { what: 'API', host: '127.0.0.1', port: 0, setting: 'STRATA_STACK_PORT' };
  const ours = () => ({ ...other, ours: { path: '/health', text: /"status":"ok"/ } });
  {
    await using server = await fakeService((_request, response) => response.end(body));
    other.port = Number(new URL(server.base).port);
    is('ok', await checkPort(ours()), /in use by a running Strata/);
    body = 'something else';
    const taken = await checkPort(ours());
    is('problem', taken, /in use at 127\.0\.0\.1 by another program/);
    assert.match(taken.todo ?? '', /STRATA_STACK_PORT/);
    is('problem', await checkPort(other), /by another program/);
  }
  is('ok', await checkPort(ours()), /free/);
  is('problem', await checkPort({ ...ours(), host: '192.0.2.1' }), /is not an address of this machine/);
});

it('strata doctor reports a clock before the program was installed, and one that jumps or is not synchronised', () => {
  const good = { now: new Date('2026-06-01'), installedAt: new Date('2026-01-01'), jumpMs: 0, isSynchronized: true };
  is('ok', judgeClock(good), /, synchronised \(systemd\)/);
  is('ok', judgeClock({ ...good, isSynchronized: undefined }), /synchronisation unknown/);
  is('problem', judgeClock({ ...good, now: new Date('1970-01-01') }), /before this program was installed/);
  is('warning', judgeClock({ ...good, jumpMs: -4_000 }), /jumped by -4000 ms/);
  is('warning', judgeClock({ ...good, isSynchronized: false }), /not synchronised/);
});

const resolvers: readonly (readonly [what: string, Manners, Finding['status'], string])[] = casesOf('cli', 'resolvers');
for (const [what, manners, status, words] of resolvers)
  it(`strata doctor reports resolvers ${what}`, async () => {
    await using server = await nameServer(manners);
    is(status, await checkResolver(server, { timeoutMs: manners.isSilent ? 200 : 10_000 }), new RegExp(words));
  });

it('strata doctor reports a database that is empty, undamaged, damaged, or unreachable', async () => {
  await using directory = await temporaryDirectory();
  const below = (...names: string[]) => `sqlite:${path.join(directory.path, ...names)}`;
  const needs = needsOf({ role: 'all', databaseConnections: 10, dataDirectory: path.join(directory.path, 'data') });
  const url = below('strata.db');
  const first = async (at = url) => (await checkDatabase(at, needs)).findings[0] as Finding;
  is('ok', await first(below('data', 'strata.db')), /the first start creates it/);
  is('problem', await first(below('nowhere', 'strata.db')), /the folder .+nowhere does not exist/);
  is('ok', await first(), /empty; the first start creates the tables/);
  {
    await using store = await openStore(url);
    await store.domains.add(['a.test', 'b.test'], { source: 'test' });
    for (const n of [0, 2]) await store.retention.recordSizes(new Date(n * 86_400_000));
  }
  is('ok', await first(), /schema current, 2 domains, no damage found/);
  is('ok', (await checkDatabase(url, needs)).findings[1] as Finding, /^domains 2 rows, 0 rows more a day$/);
  assert.equal((await checkDatabase(url, needs)).state?.counted, 2);
  await writeFile(path.join(directory.path, 'strata.db'), 'no database at all, but a text of some length');
  is('problem', await first(), /not a Strata database/);
  const away = await checkDatabase('postgres://user:hidden@127.0.0.1:9/none', needs);
  is('problem', away.findings[0] as Finding, /server/);
  assert.doesNotMatch(JSON.stringify(away), /hidden/);
});

it('strata doctor measures a writable disk and leaves it unchanged', async () => {
  await using directory = await temporaryDirectory();
  const finding = await checkDisk(path.join(directory.path, 'not', 'there', 'yet'));
  assert.match(finding.found, /free in .*a durable write takes [\d.]+ ms/);
  assert.deepEqual(await readdir(directory.path), []);
  const file = path.join(directory.path, 'file');
  await writeFile(file, '');
  is('problem', await checkDisk(path.join(file, 'below')), /cannot be written/);
  is('problem', judgeDisk('/d', { freeBytes: 1e8, syncMs: 1 }), /95 MiB free/);
  is('warning', judgeDisk('/d', { freeBytes: 1e9, syncMs: 1 }), /free/);
  is('warning', judgeDisk('/d', { freeBytes: 1e12, syncMs: 80 }), /write takes 80\.0 ms/);
  is('ok', judgeDisk('/d', { freeBytes: 1e12, syncMs: 1 }), /free/);
  is('warning', checkFileSystem('/d', 'NFS'), /\/d is on NFS/);
  is('ok', checkFileSystem('/d', undefined), /not on a network file system/);
});

it('strata doctor reports signing keys that are readable by other users, missing, damaged, or of another ledger', async () => {
  await using directory = await temporaryDirectory();
  const location = { service: 'stack', directory: directory.path, origin: 'a.test/stack' };
  const below = (...names: string[]) => path.join(directory.path, 'keys', ...names);
  is('ok', await checkKeys(location), /do not exist yet/);
  assert.deepEqual(await readdir(directory.path), [], 'a check creates no key');
  {
    await using ledger = await openSignedLedger({ ...location, keySetPath: '/k', now: () => new Date() });
    await ledger.log.append(new TextEncoder().encode('{}'));
  }
  is('ok', await checkKeys(location), /private and undamaged, 0 retired, match the ledger/);
  await rotateSigningKeys(directory.path, () => new Date(), location);
  is('ok', await checkKeys(location), /1 retired, match the ledger/);
  is('problem', await checkKeys({ ...location, origin: 'b.test/stack' }), /not signed by .+ as b\.test/);
  const file = below('receipts', 'signing-keys.json');
  await chmod(file, 0o644);
  is('problem', await checkKeys(location), /is readable by other users/);
  await chmod(file, 0o600);
  const kept = await readFile(file);
  await writeFile(file, 'nonsense');
  is('problem', await checkKeys(location), /is not JSON/);
  await writeFile(file, kept);
  await rm(below('ledger'), { recursive: true });
  is('problem', await checkKeys(location), /no key in .*, but a ledger exists/);
  assert.equal((await readdir(below())).includes('ledger'), false);
});

it('strata doctor reports too few open files and too little memory', () => {
  is('problem', judgeOpenFiles({ openFiles: 256 }), /at most 256/);
  is('warning', judgeOpenFiles({ openFiles: 4_096 }), /at most 4096/);
  is('ok', judgeOpenFiles({ openFiles: 65_536 }), /65536/);
  const memory = (gib: number, heapGib: number, domains = 1_000_000) =>
    judgeMemory({ memoryBytes: gib * 1_024 ** 3, heapBytes: heapGib * 1_024 ** 3 }, domains);
  is('problem', memory(0.25, 1, 0), /256 MiB/);
  is('problem', memory(1, 1), /1000000 domains need about 1\.0 GiB/);
  is('warning', memory(1.3, 1), /1\.3 GiB/);
  is('ok', memory(4, 2), /4\.0 GiB/);
});

it('strata doctor reports a model that is missing, not a GGUF file, too large, or not downloaded yet', async () => {
  await using directory = await temporaryDirectory();
  const store = { dir: directory.path, endpoint: 'https://hub.test', token: undefined };
  const file = path.join(directory.path, 'model.gguf');
  is('problem', await checkModel(file, store, 1e9), /cannot be read/);
  await writeFile(file, 'nothing');
  is('problem', await checkModel(file, store, 1e9), /not a GGUF file/);
  await writeFile(file, `GGUF${'x'.repeat(10_000)}`);
  is('problem', await checkModel(file, store, 1_000), /has 9\.8 KiB, more than the memory/);
  is('ok', await checkModel(file, store, 1e9), /9\.8 KiB/);
  const empty = { ...store, dir: path.join(directory.path, 'x') };
  is('warning', await checkModel('hf:a/b', empty, 1e9), /no downloads/);
});

it('strata doctor reports other services that are reachable, have another time, or are offline', async () => {
  let date = new Date().toUTCString();
  let url: string;
  {
    await using server = await fakeService((_request, response) => response.writeHead(401, { date }).end());
    url = `${server.base}/v1?key=hidden`;
    is('ok', await checkReach('STRATA_UPSTREAM', url), /\/v1 returned 401/);
    date = new Date(Date.now() - 600_000).toUTCString();
    is('warning', await checkReach('STRATA_UPSTREAM', url), /s behind this machine/);
  }
  const away = await checkReach('STRATA_UPSTREAM', url);
  is('warning', away, /cannot be reached: \w+/);
  assert.doesNotMatch(JSON.stringify(away), /hidden/);
});

it('strata doctor reports an engine that answers, and one that is offline', async () => {
  await using server = await startInferenceServer({ kind: 'vllm' });
  is('ok', await checkEngine(server), /^vllm 9\.9 with m, without draws, replay, embeddings$/);
  await server.kill();
  is('problem', await checkEngine(server), /^127\.0\.0\.1:\d+: the upstream is unreachable \(ECONNREFUSED\)$/);
});

const trial = {
  ...{ contactUrl: 'https://strata.invalid/bot', ledgerOrigin: 'localhost/strata/stack', allowedHosts: [] },
  ...{ isScanning: true, isOnDemand: true, host: '127.0.0.1' },
  role: 'all',
} as const;
for (const [why, more, findings] of casesOf<[string, Partial<Parameters<typeof judgeNames>[0]>, string][]>(
  'cli',
  'names of services',
))
  it(`strata doctor judges the names of a service where ${why}`, () => {
    const judged = judgeNames({ ...trial, ...more }).map(({ check, status }) => `${check} ${status}`);
    assert.equal(judged.join(', '), findings);
  });

it('strata doctor prints all of it as text and as JSON, and ends with 1 where there is a problem', async () => {
  await using directory = await temporaryDirectory();
  await using good = await nameServer({});
  const ports = { STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0' };
  const data = path.join(directory.path, 'data');
  const env = { STRATA_DATA: data, STRATA_RESOLVERS: `127.0.0.1:${good.port}`, ...ports };
  const { ok, findings } = (await jsonOf('doctor --json', { env })) as { ok: boolean; findings: Finding[] };
  const checks = findings.map(({ check }) => check);
  assert.ok(ok, JSON.stringify(findings));
  const expected = 'clock, database, data directory, file system, memory, open files, signing keys (stack)';
  for (const check of expected.split(', ')) assert.ok(checks.includes(check), check);
  await mkdir(data);
  await writeFile(path.join(data, 'strata.db'), 'this is not a database, although the file is long enough');
  const worker = { STRATA_DATA: directory.path };
  const gateway = { ...worker, STRATA_INFERENCE_PORT: '0', STRATA_METRICS_PORT: 'gateway=0' };
  await (await openGatewayStore(`sqlite:${path.join(directory.path, 'inference.db')}`))[Symbol.asyncDispose]();
  const ofGateway = (await jsonOf('doctor --service gateway --json', { env: gateway })) as { findings: Finding[] };
  const found = ofGateway.findings.find(({ check }) => check === 'database (inference)');
  assert.ok(ofGateway.findings.some(({ check }) => check === 'port 0 (metrics)'));
  assert.equal(found?.found, 'sqlite: schema current, 0 API keys, no damage found');
  for (const [args, env_, words] of [
    ['', env, /^problem {2}database: .+\n {9}The service cannot start\.\n {9}Fix: /m],
    ['', { ...env, STRATA_SCAN: 'perhaps' }, /^problem {2}settings: STRATA_SCAN: /],
    [' --service worker', worker, /^problem {2}model: not set/m],
    [' --service worker', { ...worker, STRATA_ENGINE: 'http://127.0.0.1:9' }, /^problem {2}engine: 127\.0\.0\.1:9: /m],
  ] as const)
    assert.match((await assertEnds(`doctor${args}`, 1, /^/, { env: env_ })).stdout, words);
});
