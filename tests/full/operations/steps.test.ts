// The commands of docs/scale.md as written, from one size to the next and back: each size has all that the one before had.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { isDeepStrictEqual, promisify } from 'node:util';
import { openStore, stackSchema } from '@strata/stack/store';
import { createInternet } from '@strata/testnet';
import { strataProcess } from '../../../services/cli/src/test/run-strata.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from '../../../services/stack/src/store/test/scans.ts';
import { missingChdb } from '../../support/clickhouse/missing-chdb.ts';
import { startClickHouseServer } from '../../support/clickhouse/server.ts';
import { temporaryDirectory, until } from '../../support/index.ts';
import { contentOf, get } from '../../support/node-answers.ts';
import { type NodeRole, type TestNode, testNodes } from '../../support/nodes.ts';
import { Checker } from '../../survival/checker/check.ts';
import { type Row, withDatabase } from '../../survival/checker/database.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/scale.md'), 'utf8');
const DOMAINS = 30;
const KEY_SET = '/.well-known/stack-keys.json';
const PATHS = [
  ...['stats', 'search?limit=100', 'stats/providers', 'alerts', 'watchlists', 'stream/json', 'enrichment/advisories'],
  ...['stats/migrations', 'intelligence/market-share', 'intelligence/security-scorecard'],
];

/** The commands of a step. */
function commandsOf(step: string): string {
  const section = page.split(`### ${step}\n`)[1]?.split('\n#')[0] ?? assert.fail(`there is no step ${step}`);
  return /```sh\n([\s\S]+?)```/.exec(section)?.[1] ?? assert.fail(step);
}

/** Programs in place of `npx` and `npm`: a service is written down, not started; commands run without a network. */
function programsIn(folder: string): void {
  const { command, args } = strataProcess([]);
  const main = [command, ...args].map((each) => `'${each}'`).join(' ');
  const npx = `shift\ncase "$*" in *serve*) ROLE="$*" env > "$(mktemp "$WRITTEN/XXXXXX")" ;; *) exec ${main} "$@" ;; esac`;
  for (const [name, text] of Object.entries({ npx, npm: ':' })) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(path.join(folder, name), 0o755);
  }
}

/** Every row of every table, as the database has it. */
const rowsOf = (url: string) =>
  withDatabase(url, async (sql) => {
    const cell = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value);
    const cells = (row: Row) => Object.entries(row).map(([name, value]) => [name, cell(value)]);
    const rows: Record<string, readonly string[]> = {};
    for (const table of Object.keys(stackSchema.keys))
      rows[table] = (await sql(`select * from ${table}`)).map((row) => JSON.stringify(cells(row).sort())).sort();
    return rows;
  });

const settingsIn = (env: string) =>
  Object.fromEntries([...env.matchAll(/^((?:STRATA_\w+)|ROLE)=(.*)$/gm)].map(([, name, value]) => [name, value]));

it('the commands of docs/scale.md lead from small to large and back, without loss', {
  skip: postgres.skip,
  timeout: 900_000,
}, async (t) => {
  await using folder = await temporaryDirectory();
  const at = (name: string) => path.join(folder.path, name);
  for (const name of ['bin', 'data']) mkdirSync(at(name));
  programsIn(at('bin'));
  if (missingChdb) t.diagnostic(`small and medium only: ${missingChdb}`);
  await using clickhouse = missingChdb ? undefined : await startClickHouseServer();
  const addresses = {
    'postgres://strata:secret@127.0.0.1/strata': await postgres.empty(),
    'https://user:password@127.0.0.1:8443/strata': clickhouse?.url ?? '',
    '/var/lib/strata/clickhouse': at('clickhouse'),
  };
  await using nodes = await testNodes({ databaseUrl: '', domains: DOMAINS });
  const running = new Map<string, TestNode>();
  let env: NodeJS.ProcessEnv = {};
  let databaseUrl = '';

  const stop = async (data: string) => {
    assert.equal((await running.get(data)?.stop()) ?? 0, 0, data);
    running.delete(data);
  };
  const stopAll = () => Promise.all([...running.keys()].map(stop));
  /** Runs commands as an interactive shell does, after one that fails too: their environment, and the services that they start. */
  const execute = async (commands: string) => {
    const text = Object.entries(addresses).reduce((all, [from, to]) => all.replaceAll(from, to), commands);
    const written = at(`written-${Math.random()}`);
    mkdirSync(written);
    await promisify(execFile)('sh', ['-c', `${text}\nenv > "$WRITTEN.env"`], {
      cwd: folder.path,
      env: { ...process.env, PATH: `${at('bin')}:${process.env.PATH}`, HOME: folder.path, WRITTEN: written, ...env },
    });
    const services = readdirSync(written).map((file) => settingsIn(readFileSync(path.join(written, file), 'utf8')));
    return { services, after: settingsIn(readFileSync(`${written}.env`, 'utf8')) };
  };
  /** Runs commands, and starts the services among them in place of those that use the same directory. */
  const run = async (commands: string) => {
    const { services, after } = await execute(commands);
    env = after;
    const before = databaseUrl;
    databaseUrl = env.STRATA_DATABASE_URL ?? `sqlite:${at('data/strata.db')}`;
    if (before !== '' && before !== databaseUrl) assert.deepEqual(await rowsOf(databaseUrl), await rowsOf(before));
    const start = async ({ ROLE = '', ...settings }: Record<string, string>) => {
      const role = (/--role (\w+)/.exec(ROLE)?.[1] ?? 'all') as NodeRole;
      const data = at(settings.STRATA_DATA ?? 'data');
      await stop(data);
      const own = { STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_DATA: data };
      running.set(data, await nodes.start(role, { STRATA_DATABASE_URL: databaseUrl, ...settings, ...own }));
    };
    await Promise.all(services.map(start));
  };
  /** While processes of the size before run, or once the step is done, a step starts no service that signs. */
  const assertNothingSigns = async (step: string) => {
    const { services } = await execute(commandsOf(step));
    assert.ok(
      services.every(({ ROLE = '' }) => /scheduler|scanner/.test(ROLE)),
      step,
    );
    if (databaseUrl.startsWith('sqlite:')) return;
    const moveBack = 'echo "$STRATA_DATABASE_URL" | npx strata stack migrate-log --back - || exit';
    await assert.rejects(execute(moveBack), /connected to the database/);
  };
  const api = () => [...running.values()].find(({ role }) => role === 'all' || role === 'api') ?? assert.fail('no API');

  await using internet = await createInternet({ domains: DOMAINS, hasFaults: false });
  const names = [...internet.domains()];
  const scanned: string[] = [];
  const answers = new Map<string, string>();
  const checker = new Checker();
  let key = '';

  /** New domains that the service scans, one that changes, and a key. */
  const liveOn = async (size: string) => {
    await using store = await openStore(databaseUrl, { poolSize: 2 });
    const [moved, ...added] = [`moved-${scanned.length}.com`, ...names.splice(0, 4)];
    await store.domains.add([moved, ...added], { source: 'list' });
    for (const [n, exchange] of [GOOGLE, MICROSOFT, MICROSOFT].entries())
      await recordScan(store, scanOf(moved, day(n), exchange), confirm);
    const { key: made, stored } = await store.keys.create({ tier: 'unlimited', label: size });
    key ||= made;
    const rules = [{ kind: 'gained_provider' }] as const;
    const list = { name: size, domains: added, query: undefined, rules, channels: [] };
    await store.watchlists.create(stored.id, list, { maxLists: 9, now: new Date() });
    await store.advisories.putScores([{ cve: `CVE-2024-${1_000 + scanned.length}`, epss: 0.5, percentile: 1 / 3 }]);
    scanned.push(moved, ...added);
    const isScanned = async () => (await store.inspection.counts()).scannedDomains === scanned.length;
    await until(isScanned, { what: `scans at ${size}`, intervalMs: 50 });
  };
  /** All that is answered, without receipts. */
  const stateOf = async () => {
    const paths = [...PATHS, ...scanned.flatMap((name) => [`domains/${name}`, `domains/${name}/changes`])];
    const ask = async (each: string) => {
      const { status, text } = await get(api(), `/stack/v1/${each}`, key);
      const body = JSON.parse(text);
      answers.set(body.provenance.ledger_receipt_id, text);
      return [each, status, contentOf(body)];
    };
    return await Promise.all(paths.map(ask));
  };
  /** Every receipt and checkpoint of any size is in the ledger of this one. */
  const assertLedger = async () => {
    const { base } = api();
    const textAt = async (each: string) => new Set([await (await fetch(base + each)).text()]);
    const given = { answers, checkpoints: await textAt('/ledger/checkpoint'), keySets: await textAt(KEY_SET) };
    const acknowledged = { scans: new Map(), counted: new Map(), events: [] };
    const ledgerUrl = databaseUrl.startsWith('sqlite:') ? `sqlite:${at('data/ledger/ledger.db')}` : undefined;
    const service = { databaseUrl, ledgerUrl, base, keySetPath: KEY_SET };
    assert.deepEqual(await checker.check({ ...given, acknowledged }, service), []);
  };

  await run('npx strata stack serve');
  await liveOn('small');
  const large = ['Medium to large', 'Large to medium', 'Medium to one big machine', 'Large to medium'];
  for (const step of ['Small to medium', ...(missingChdb ? [] : large), 'Medium to small']) {
    let before: Awaited<ReturnType<typeof stateOf>> = [];
    const hasSettled = async () => {
      const last = before;
      before = await stateOf();
      return JSON.stringify(before[0]).includes(`"domains":${scanned.length},`) && isDeepStrictEqual(before, last);
    };
    await until(hasSettled, { intervalMs: 1_000, limitMs: 300_000 });
    await assertLedger();
    // A large step restarts one service after another.
    if (/small/i.test(step)) await assertNothingSigns(step);
    if (!/large/i.test(step)) await stopAll();
    await run(commandsOf(step));
    if (/small/i.test(step)) await assertNothingSigns(step);
    await until(async () => isDeepStrictEqual(await stateOf(), before), { limitMs: 120_000 }).catch(() => {});
    assert.deepEqual(await stateOf(), before, step);
    await assertLedger();
    await liveOn(step);
  }
  await assertLedger();
  await stopAll();
});
