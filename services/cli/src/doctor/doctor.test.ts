// Each trouble that `strata doctor` tells, provoked: with real sockets, files, databases and name servers.
import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { openSignedLedger, rotateSigningKeys } from '@strata/log';
import { openStore } from '@strata/store';
import { fakeService } from '../test/mcp-client.ts';
import { type Manners, nameServer } from '../test/name-server.ts';
import { runStrata, temporaryDirectory } from '../test/run-strata.ts';
import { judgeClock } from './clock.ts';
import { checkDatabase } from './database.ts';
import { checkDisk, judgeDisk } from './disk.ts';
import type { Finding } from './finding.ts';
import { checkKeys } from './keys.ts';
import { judgeMemory, judgeOpenFiles } from './machine.ts';
import { checkModel } from './models.ts';
import { judgeNames } from './names.ts';
import { checkPort } from './ports.ts';
import { checkReach } from './reach.ts';
import { checkResolver } from './resolvers.ts';

/** Whatever is not well says what it means, and mostly what to do. */
function assertTold({ status, found, means }: Finding, expected: Finding['status'], words: RegExp) {
  assert.equal(status, expected, found);
  assert.match(found, words);
  assert.equal(means !== undefined, expected !== 'ok');
}

describe('ports', () => {
  it('are free, held by a running service of ours, or by another program', async () => {
    let body = '{"status":"ok"}';
    const ours = { path: '/health', words: /"status":"ok"/ };
    const place = { what: 'API', host: '127.0.0.1', port: 0, setting: 'STRATA_STACK_PORT' };
    {
      await using server = await fakeService((_request, response) => response.end(body));
      place.port = Number(new URL(server.base).port);
      assertTold(await checkPort({ ...place, ours }), 'ok', /held by a running Strata/);
      body = 'something else';
      const taken = await checkPort({ ...place, ours });
      assertTold(taken, 'problem', /in use at 127\.0\.0\.1 by another program/);
      assert.match(taken.todo ?? '', /STRATA_STACK_PORT/);
      assertTold(await checkPort(place), 'problem', /by another program/);
    }
    assertTold(await checkPort({ ...place, ours }), 'ok', /free/);
    assertTold(await checkPort({ ...place, host: '192.0.2.1' }), 'problem', /does not have the address/);
  });
});

describe('the clock', () => {
  const well = { now: new Date('2026-06-01'), installedAt: new Date('2026-01-01'), jumpMs: 0, isSynchronized: true };
  it('is wrong before the program was installed, and doubtful where it jumps or nobody keeps it', () => {
    assertTold(judgeClock(well), 'ok', /synchronised as systemd says/);
    assertTold(judgeClock({ ...well, isSynchronized: undefined }), 'ok', /cannot be known here/);
    assertTold(judgeClock({ ...well, now: new Date('1970-01-01') }), 'problem', /before this program was installed/);
    assertTold(judgeClock({ ...well, jumpMs: -4_000 }), 'warning', /jumped by -4000 ms/);
    assertTold(judgeClock({ ...well, isSynchronized: false }), 'warning', /not synchronised/);
  });
});

describe('resolvers', () => {
  const cases: readonly (readonly [what: string, Manners, Finding['status'], RegExp])[] = [
    ['that do all', {}, 'ok', /over UDP in \d+ ms and over TCP, with EDNS; checks DNSSEC/],
    ['that are silent', { isSilent: true }, 'problem', /does not answer over UDP/],
    ['that refuse', { rcode: 5 }, 'problem', /answers REFUSED about com/],
    ['that invent addresses', { lies: true }, 'problem', /addresses for names that do not exist/],
    ['without TCP', { hasTcp: false }, 'warning', /over TCP/],
    ['without EDNS', { hasEdns: false }, 'warning', /does not speak EDNS/],
    ['that check nothing', { validates: false }, 'warning', /does not check DNSSEC/],
    ['with two weaknesses', { validates: false, hasTcp: false }, 'warning', /over TCP; does not check DNSSEC/],
  ];
  for (const [what, manners, status, words] of cases)
    it(`${what} are told`, async () => {
      await using server = await nameServer(manners);
      assertTold(await checkResolver(server, { timeoutMs: manners.isSilent ? 200 : 10_000 }), status, words);
    });
});

describe('the database', () => {
  it('is told empty, sound with its domains, damaged, or out of reach', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'strata.db');
    const dataDirectory = path.join(directory.path, 'data');
    const look = async (url = `sqlite:${file}`) =>
      checkDatabase(url, { connections: 10, needsSession: true, dataDirectory });
    const isMade = (await look(`sqlite:${path.join(dataDirectory, 'strata.db')}`)).findings[0] as Finding;
    assertTold(isMade, 'ok', /the first start makes it/);
    const nowhere = (await look(`sqlite:${path.join(directory.path, 'nowhere', 'strata.db')}`)).findings[0] as Finding;
    assertTold(nowhere, 'problem', /the folder .+nowhere is not there/);
    assertTold((await look()).findings[0] as Finding, 'ok', /empty, the first start fills it/);
    {
      await using store = await openStore(`sqlite:${file}`);
      await store.addDomains(['a.test', 'b.test'], { source: 'test' });
    }
    const sound = await look();
    assertTold(sound.findings[0] as Finding, 'ok', /schema current, 2 domains, the file is sound/);
    assert.equal(sound.state?.domains, 2);
    await writeFile(file, 'no database at all, but a text of some length');
    assertTold((await look()).findings[0] as Finding, 'problem', /not a Strata database/);
    const away = await look('postgres://nobody:hidden@127.0.0.1:9/none');
    assertTold(away.findings[0] as Finding, 'problem', /server/);
    assert.doesNotMatch(JSON.stringify(away), /hidden/);
  });
});

describe('the disk', () => {
  it('is measured where it can be written, and left as it was', async () => {
    await using directory = await temporaryDirectory();
    const finding = await checkDisk(path.join(directory.path, 'not', 'there', 'yet'));
    assert.match(finding.found, /free in .*a write is safe after [\d.]+ ms/);
    assert.deepEqual(await readdir(directory.path), []);
    const file = path.join(directory.path, 'file');
    await writeFile(file, '');
    assertTold(await checkDisk(path.join(file, 'below')), 'problem', /cannot be written/);
  });

  it('is told nearly full, and slow', () => {
    assertTold(judgeDisk('/d', { freeBytes: 1e8, syncMs: 1 }), 'problem', /95 MiB free/);
    assertTold(judgeDisk('/d', { freeBytes: 1e9, syncMs: 1 }), 'warning', /free/);
    assertTold(judgeDisk('/d', { freeBytes: 1e12, syncMs: 80 }), 'warning', /safe after 80\.0 ms/);
    assertTold(judgeDisk('/d', { freeBytes: 1e12, syncMs: 1 }), 'ok', /free/);
  });
});

describe('signing keys', () => {
  it('are told open, missing, damaged, and of another ledger', async () => {
    await using directory = await temporaryDirectory();
    const place = { service: 'stack', directory: directory.path, origin: 'a.test/stack' };
    assertTold(await checkKeys(place), 'ok', /none yet/);
    assert.deepEqual(await readdir(directory.path), [], 'a look makes no key');
    const options = { directory: directory.path, origin: place.origin, keySetPath: '/k', now: () => new Date() };
    {
      await using ledger = await openSignedLedger(options);
      await ledger.log.append(new TextEncoder().encode('{}'));
    }
    assertTold(await checkKeys(place), 'ok', /private and whole, 0 retired, and those of the ledger/);
    await rotateSigningKeys(directory.path, () => new Date());
    assertTold(await checkKeys(place), 'ok', /1 retired, and those of the ledger/);
    assertTold(
      await checkKeys({ ...place, origin: 'b.test/stack' }),
      'problem',
      /not signed by them as b\.test\/stack/,
    );
    const file = path.join(directory.path, 'keys', 'receipts', 'signing-keys.json');
    await chmod(file, 0o644);
    assertTold(await checkKeys(place), 'problem', /may be read by others/);
    await chmod(file, 0o600);
    const kept = await readFile(file);
    await writeFile(file, 'nonsense');
    assertTold(await checkKeys(place), 'problem', /is not JSON/);
    await writeFile(file, kept);
    await rm(path.join(directory.path, 'keys', 'ledger'), { recursive: true });
    assertTold(await checkKeys(place), 'problem', /hold no key, while a ledger is there/);
    assert.equal((await readdir(path.join(directory.path, 'keys'))).includes('ledger'), false);
  });
});

describe('the machine', () => {
  it('needs open files and memory', () => {
    assertTold(judgeOpenFiles({ openFiles: 256 }), 'problem', /at most 256/);
    assertTold(judgeOpenFiles({ openFiles: 4_096 }), 'warning', /at most 4096/);
    assertTold(judgeOpenFiles({ openFiles: 65_536 }), 'ok', /65536/);
    const gib = 1_024 ** 3;
    assertTold(judgeMemory({ memoryBytes: gib / 4, heapBytes: gib }, 0), 'problem', /256 MiB/);
    assertTold(
      judgeMemory({ memoryBytes: gib, heapBytes: gib }, 1_000_000),
      'problem',
      /1000000 domains need about 1\.0 GiB/,
    );
    assertTold(judgeMemory({ memoryBytes: 1.3 * gib, heapBytes: gib }, 1_000_000), 'warning', /1\.3 GiB/);
    assertTold(judgeMemory({ memoryBytes: 4 * gib, heapBytes: 2 * gib }, 1_000_000), 'ok', /4\.0 GiB/);
  });
});

describe('the model', () => {
  it('is told missing, no model, too large, or not downloaded yet', async () => {
    await using directory = await temporaryDirectory();
    const store = { dir: directory.path, endpoint: 'https://hub.test', token: undefined };
    const file = path.join(directory.path, 'model.gguf');
    assertTold(await checkModel(file, store, 1e9), 'problem', /cannot be read/);
    await writeFile(file, 'nothing');
    assertTold(await checkModel(file, store, 1e9), 'problem', /no GGUF file/);
    await writeFile(file, `GGUF${'x'.repeat(10_000)}`);
    assertTold(await checkModel(file, store, 1_000), 'problem', /has 9\.8 KiB, the memory/);
    assertTold(await checkModel(file, store, 1e9), 'ok', /9\.8 KiB/);
    assertTold(
      await checkModel('hf:a/b', { ...store, dir: path.join(directory.path, 'x') }, 1e9),
      'warning',
      /nothing is downloaded/,
    );
  });
});

describe('other services', () => {
  it('are told reached, with another clock, or away; what is secret in an address is not repeated', async () => {
    let date = new Date().toUTCString();
    let url: string;
    {
      await using server = await fakeService((_request, response) => response.writeHead(401, { date }).end());
      url = `${server.base}/v1?key=hidden`;
      assertTold(await checkReach('STRATA_UPSTREAM', url), 'ok', /\/v1 answers 401/);
      date = new Date(Date.now() - 600_000).toUTCString();
      assertTold(await checkReach('STRATA_UPSTREAM', url), 'warning', /s behind ours/);
    }
    const away = await checkReach('STRATA_UPSTREAM', url);
    assertTold(away, 'warning', /cannot be reached: \w+/);
    assert.doesNotMatch(JSON.stringify(away), /hidden/);
  });
});

describe('the names of a service', () => {
  const trial = {
    contactUrl: 'https://strata.invalid/bot',
    ledgerOrigin: 'localhost/strata/stack',
    role: 'all',
    isScanning: true,
    isOnDemand: true,
    host: '127.0.0.1',
    allowedHosts: [],
  } as const;
  const told = (more: Partial<Parameters<typeof judgeNames>[0]>) =>
    judgeNames({ ...trial, ...more }).map(({ check, status }) => `${check} ${status}`);

  it('are its own where it scans, and where others ask it', () => {
    assert.deepEqual(told({}), ['contact warning']);
    assert.deepEqual(told({ contactUrl: 'https://example.com/bot' }), ['contact ok']);
    assert.deepEqual(told({ isScanning: false, isOnDemand: false }), []);
    assert.deepEqual(told({ host: '0.0.0.0' }), ['contact warning', 'ledger name warning']);
    assert.deepEqual(told({ role: 'scheduler', allowedHosts: ['stack.example'] }), ['ledger name warning']);
    assert.deepEqual(told({ role: 'scanner', host: '::' }), ['contact warning'], 'it gives no receipts');
    const own = { ledgerOrigin: 'stack.example/log', contactUrl: 'https://example.com/bot' };
    assert.deepEqual(told({ ...own, host: '::' }), ['contact ok', 'ledger name ok']);
  });
});

describe('strata doctor', () => {
  it('tells all of it in words and as JSON, and ends with 1 where there is a problem', async () => {
    await using directory = await temporaryDirectory();
    await using good = await nameServer({});
    const env = {
      STRATA_DATA: path.join(directory.path, 'data'),
      STRATA_RESOLVERS: `127.0.0.1:${good.port}`,
      STRATA_STACK_PORT: '0',
      STRATA_METRICS_PORT: '0',
    };
    const well = await runStrata(['doctor', '--json'], { env });
    const { ok, findings } = JSON.parse(well.stdout) as { ok: boolean; findings: Finding[] };
    assert.deepEqual([well.code, ok], [0, true], well.stdout);
    for (const check of ['clock', 'database', 'data directory', 'memory', 'open files', 'signing keys (stack)'])
      assert.ok(
        findings.some((finding) => finding.check === check),
        check,
      );
    await mkdir(env.STRATA_DATA);
    await writeFile(path.join(env.STRATA_DATA, 'strata.db'), 'this is no database, however long one looks at it');
    const ill = await runStrata(['doctor'], { env });
    assert.equal(ill.code, 1);
    assert.match(ill.stdout, /^problem {2}database: .+\n {9}The service cannot start\.\n {9}What to do: /m);
    const wrong = await runStrata(['doctor'], { env: { ...env, STRATA_SCAN: 'perhaps' } });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stdout, /^problem {2}settings: STRATA_SCAN: /);
    const worker = await runStrata(['doctor', '--service', 'worker'], { env: { STRATA_DATA: directory.path } });
    assert.match(worker.stdout, /^problem {2}model: none is named/m);
  });
});
