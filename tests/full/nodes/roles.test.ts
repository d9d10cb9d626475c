// Several processes on one PostgreSQL, each in its role: what one writes all answer, one that ends does so in order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStore } from '@strata/stack/store';
import { createInternet } from '@strata/testnet';
import { runStrata } from '../../../services/cli/src/test/run-strata.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from '../../../services/stack/src/store/test/scans.ts';
import { temporaryDirectory, untilAnswer } from '../../support/index.ts';
import { contentOf, get } from '../../support/node-answers.ts';
import { type TestNode, testNodes } from '../../support/nodes.ts';

const DOMAINS = 30;

/** What an answer says, without its receipt. */
async function textOf(node: TestNode, target: string, key: string): Promise<string> {
  const { status, headers, text: body } = await get(node, target, key);
  const isJson = headers.get('content-type')?.includes('json');
  return `${status} ${isJson ? JSON.stringify(contentOf(JSON.parse(body))) : body}`;
}

describe('processes in roles on one PostgreSQL', { skip: postgres.skip }, () => {
  /** A database, its store for the test itself, and nodes on it. */
  async function ground() {
    await using stack = new AsyncDisposableStack();
    const databaseUrl = await postgres.fresh();
    const store = stack.use(await openStore(databaseUrl, { poolSize: 3 }));
    const nodes = stack.use(await testNodes({ databaseUrl, domains: DOMAINS }));
    const owned = stack.move();
    return { databaseUrl, store, nodes, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  }

  it('are known to the doctor beside them, those without an API too', async () => {
    await using bed = await ground();
    const STRATA_DATABASE_URL = bed.databaseUrl;
    for (const role of ['scanner', 'scheduler'] as const) {
      const node = await bed.nodes.start(role);
      await using directory = await temporaryDirectory();
      const { stdout } = await runStrata(['doctor', '--service', 'stack', '--json'], {
        env: {
          ...{ STRATA_DATA: directory.path, STRATA_DATABASE_URL, STRATA_RESOLVERS: '127.0.0.1:9' },
          ...{ STRATA_ROLE: role, STRATA_METRICS_PORT: new URL(node.metricsBase).port },
        },
      });
      const { findings } = JSON.parse(stdout) as { findings: { check: string; found: string }[] };
      const ports = findings.filter(({ check }) => check.startsWith('port '));
      assert.equal(ports.length, 1, stdout);
      assert.match(ports[0]?.found ?? '', /in use by a running Strata/);
    }
  });

  it('scan every domain, and give the same answers within a second', async () => {
    await using bed = await ground();
    const { store, nodes } = bed;
    const { key } = await store.keys.create({ tier: 'unlimited' });
    await using internet = await createInternet({ domains: DOMAINS, hasFaults: false });
    const names = internet.domains();
    await store.domains.add(names, { source: 'test' });
    const started = await Promise.all(
      (['api', 'api', 'scheduler', 'scheduler', 'scanner', 'scanner'] as const).map((role) => nodes.start(role)),
    );
    const [one, two, ...workers] = started as [TestNode, TestNode, ...TestNode[]];
    for (const node of workers) {
      const states = ['/health', '/ready', '/'].map((target) => fetch(node.base + target).then(({ status }) => status));
      assert.deepEqual(await Promise.all(states), [200, 200, 404], `a ${node.role} says that it lives, and no more`);
    }
    const isScanned = async () => (await store.inspection.counts()).scannedDomains === DOMAINS;
    await untilAnswer('all domains are scanned', isScanned);

    const paths = [
      ...names.slice(0, 5).flatMap((name) => [`/stack/v1/domains/${name}`, `/stack/v1/domains/${name}/changes`]),
      ...['search?q=a&limit=10', 'search?provider=cloudflare', 'stats', 'stats/providers', 'stats/migrations'],
      ...['alerts', 'anomalies', 'intelligence/security-scorecard', 'intelligence/market-share?category=dns'],
      ...['intelligence/supply-chain/cloudflare', `intelligence/risk/${names[0]}`, 'providers/cloudflare'],
      ...['security/export.csv', 'migrations/export.csv', 'feeds/stats', 'enrichment/affected'],
    ].map((each) => (each.startsWith('/') ? each : `/stack/v1/${each}`));
    for (const each of paths) {
      const ask = () => Promise.all([one, two].map((node) => textOf(node, each, key)));
      const [answer] = await untilAnswer(each, ask, ([first, second]) => first === second);
      assert.match(String(answer), /^200 /, each);
    }

    // From here on the test itself is the scanner.
    const isScanner = ({ role }: TestNode) => role === 'scanner';
    assert.deepEqual(await Promise.all(started.filter(isScanner).map((node) => node.stop())), [0, 0]);
    // A change that is confirmed, an alert of it, a scan that saw nothing new, a new domain: in every answer that they touch.
    const untilBothShow = (what: string, target: string, isSo: (answer: string) => boolean) =>
      Promise.all([one, two].map((node) => untilAnswer(`${what} at ${target}`, () => textOf(node, target, key), isSo)));
    const ask = (target: string) => textOf(one, target, key);
    const stats = await ask('/stack/v1/stats');
    await store.domains.add(['moving.com'], { source: 'test' });
    await recordScan(store, scanOf('moving.com', day(0), GOOGLE), confirm);
    await untilBothShow('a new domain', '/stack/v1/stats', (answer) => answer !== stats);
    await untilBothShow('a new domain', '/stack/v1/search?q=moving', (answer) => answer.includes('moving.com'));
    const profile = await ask('/stack/v1/domains/moving.com');
    await textOf(two, '/stack/v1/domains/moving.com', key);
    await recordScan(store, scanOf('moving.com', day(1), GOOGLE), confirm);
    await untilBothShow('another scan', '/stack/v1/domains/moving.com', (answer) => answer !== profile);
    const moves = await ask('/stack/v1/domains/moving.com/changes');
    await textOf(two, '/stack/v1/domains/moving.com/changes', key);
    await recordScan(store, scanOf('moving.com', day(2), MICROSOFT), confirm);
    await recordScan(store, scanOf('moving.com', day(3), MICROSOFT), confirm);
    await untilBothShow('a change', '/stack/v1/domains/moving.com/changes', (answer) => answer !== moves);
    await untilBothShow('its event', '/stack/v1/stream/json', (answer) => answer.includes('moving.com'));
    const alerts = await ask('/stack/v1/alerts');
    await textOf(two, '/stack/v1/alerts', key);
    const words = { subject: 's', domain: null, provider: null, title: 'A title', detail: 'd', ref: '/' };
    const alert = { id: 'al_1', at: new Date(), kind: 'security', severity: 'low', ...words } as const;
    await store.signals.addAlert(alert, { quietMs: 1 });
    await untilBothShow('an alert', '/stack/v1/alerts', (answer) => answer !== alerts);
    const rest = started.filter((node) => !isScanner(node));
    assert.deepEqual(await Promise.all(rest.map((node) => node.stop())), [0, 0, 0, 0]);
    for (const node of started) assert.doesNotMatch(node.log(), /"level":[56]0/, node.role);
  });
});
