// Metrics of running services: documented in full, and every metric that the alerts and the dashboard name exists.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { parse } from 'yaml';
import { type Harness as Gateway, startHarness as startGateway } from '../../services/gateway/src/test/harness.ts';
import { company, type Harness, smallInternet, startHarness } from '../../services/stack/src/test/harness.ts';
import { startTestWorker, type TestWorker } from '../../services/worker/src/test/running-worker.ts';

const root = path.join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

type Rule = Readonly<{ alert: string; expr: string; annotations: { readonly runbook: string } }>;
type Panel = Readonly<{ title: string; targets?: readonly { readonly expr: string }[] }>;

const { groups } = parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(read('deploy/grafana/strata.json')) as { panels: Panel[] };

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

describe('metrics', () => {
  let internet: Internet;
  let stack: Harness;
  let gateway: Gateway;
  let worker: TestWorker;
  const exposed = { stack: '', gateway: '', worker: '' };
  before(async () => {
    internet = await smallInternet();
    // Has a metric of its own, also while it does not respond.
    const settings = { STRATA_ANALYTICS_URL: 'http://127.0.0.1:1/strata' };
    stack = await startHarness({ internet, settings });
    await stack.scan(company(internet, 0));
    await stack.get(`/stack/v1/domains/${company(internet, 0)}`);
    const p2p = { STRATA_NETWORK: 'on', STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off' };
    gateway = await startGateway({ ...p2p, STRATA_METRICS_PORT: 'gateway=0' });
    const messages = [{ role: 'user', content: 'What is DMARC?' }];
    const question = { model: 'strata-tiny-chat', max_tokens: 4, messages };
    assert.equal((await gateway.post('/v1/chat/completions', question)).status, 200);
    worker = await startTestWorker({ metrics: true });
    const scrapeOf = async (port: number | undefined) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    exposed.stack = await scrapeOf(stack.running.metricsPort);
    exposed.gateway = await scrapeOf(gateway.running.metricsPort);
    exposed.worker = await scrapeOf(worker.worker.metricsPort);
  });
  after(async () => {
    await worker?.[Symbol.asyncDispose]();
    await gateway?.[Symbol.asyncDispose]();
    await stack?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });

  /** Fails where an expression names no metric, or one that no service has. */
  const assertKnown = (expr: string, what: string, { mayAskUp = false } = {}) => {
    const types = Object.values(exposed).flatMap((text) => [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)]);
    const known = types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    // Names of ours and of the process; `up` is Prometheus's own.
    const names = expr.match(/\b(?:strata|process|nodejs)_\w+/g) ?? [];
    assert.ok(names.length > 0 || (mayAskUp && /\bup\{/.test(expr)), what);
    for (const name of names) assert.ok(known.includes(name), `${what}: ${name}`);
  };

  it('are documented in docs/monitoring.md, with their services, and only these', () => {
    const rows = read('docs/monitoring.md').matchAll(/^\| `(strata_\w+)` \| ([^|]+) \|/gm);
    const written = new Map([...rows].map(([, name = '', of = '']) => [name, of]));
    const services = new Map<string, string[]>();
    for (const [service, text] of Object.entries(exposed))
      for (const [, name = ''] of text.matchAll(/^# TYPE (strata_\w+) /gm))
        services.set(name, [...(services.get(name) ?? []), service]);
    const textOf = (services: readonly string[]) => (services.length === 3 ? 'all' : services.join(', '));
    assert.deepEqual(written, new Map([...services].map(([name, services]) => [name, textOf(services)])));
  });

  it('that the alerts name are there, and so is what their runbook points to', () => {
    const titles = [...read('docs/operations.md').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase());
    const headings = new Set(titles.map((title) => title.replaceAll(/[^a-z0-9 -]/g, '').replaceAll(' ', '-')));
    assert.ok(alerts.length >= 10);
    for (const { alert, expr, annotations } of alerts) {
      assertKnown(expr, alert, { mayAskUp: true });
      const [file, heading = ''] = annotations.runbook.split('#');
      assert.equal(file, 'docs/operations.md');
      assert.ok(headings.has(heading), `${alert}: ${heading}`);
    }
  });

  it('that the dashboard names are there', () => {
    const panels = dashboard.panels.filter(({ targets }) => targets !== undefined);
    assert.ok(panels.length >= 20);
    for (const { title, targets = [] } of panels) {
      assert.ok(targets.length > 0, title);
      for (const { expr } of targets) assertKnown(expr, title);
    }
  });

  it(
    'are asked for by rules that Prometheus accepts',
    { skip: hasPromtool ? false : 'promtool is not installed (Debian package prometheus)' },
    () => void execFileSync('promtool', ['check', 'rules', path.join(root, 'deploy/prometheus/alerts.yml')]),
  );
});
