// Metrics as running services tell them: documented in full, and all that the alerts and the dashboard name is there.
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

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const alerts = (parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const dashboard = JSON.parse(read('deploy/grafana/strata.json')) as { panels: Panel[] };

/** Names of ours and of the process in an expression; `up` is Prometheus's own. */
const metricsIn = (expr: string) => expr.match(/\b(?:strata|process|nodejs)_\w+/g) ?? [];

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

describe('metrics', () => {
  let internet: Internet;
  let stack: Harness;
  let gateway: Gateway;
  let worker: TestWorker;
  const told = { stack: '', gateway: '', worker: '' };
  before(async () => {
    internet = await smallInternet();
    stack = await startHarness({ internet });
    await stack.scan(company(internet, 0));
    await stack.get(`/stack/v1/domains/${company(internet, 0)}`);
    gateway = await startGateway({
      ...{ STRATA_NETWORK: 'on', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0', STRATA_MDNS: 'off' },
      STRATA_INFERENCE_METRICS_PORT: '0',
    });
    const messages = [{ role: 'user', content: 'What is DMARC?' }];
    const question = { model: 'strata-tiny-chat', max_tokens: 4, messages };
    assert.equal((await gateway.post('/v1/chat/completions', question)).status, 200);
    worker = await startTestWorker({ metrics: true });
    const tell = async (port: number | undefined) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    told.stack = await tell(stack.running.metricsPort);
    told.gateway = await tell(gateway.running.metricsPort);
    told.worker = await tell(worker.worker.metricsPort);
  });
  after(async () => {
    await worker?.[Symbol.asyncDispose]();
    await gateway?.[Symbol.asyncDispose]();
    await stack?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });

  /** Every name that a query may use. */
  const namesOf = (text: string) =>
    new Set(
      [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
  const known = () => new Set(Object.values(told).flatMap((text) => [...namesOf(text)]));

  it('are told in docs/monitoring.md in full, with the services that have them, and no other', () => {
    const rows = read('docs/monitoring.md').matchAll(/^\| `(strata_\w+)` \| ([^|]+) \|/gm);
    const written = new Map([...rows].map(([, name = '', of = '']) => [name, of]));
    const seen = new Map<string, string[]>();
    for (const [service, text] of Object.entries(told))
      for (const [, name = ''] of text.matchAll(/^# TYPE (strata_\w+) /gm))
        seen.set(name, [...(seen.get(name) ?? []), service]);
    const expected = new Map(
      [...seen].map(([name, services]) => [name, services.length === 3 ? 'all' : services.join(', ')]),
    );
    assert.deepEqual(written, expected);
  });

  it('that the alerts name are there, and so is what their runbook points to', () => {
    const anchor = (title: string) =>
      title
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-');
    const titles = read('docs/operations.md').matchAll(/^#+ (.+)$/gm);
    const headings = new Set([...titles].map(([, title = '']) => anchor(title)));
    assert.ok(alerts.length >= 10);
    for (const { alert, expr, annotations } of alerts) {
      const names = metricsIn(expr);
      assert.ok(names.length > 0 || /\bup\{/.test(expr), alert);
      for (const name of names) assert.ok(known().has(name), `${alert}: ${name}`);
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
      for (const { expr } of targets) {
        const names = metricsIn(expr);
        assert.ok(names.length > 0, title);
        for (const name of names) assert.ok(known().has(name), `${title}: ${name}`);
      }
    }
  });

  it('are asked for by rules that Prometheus accepts', {
    skip: hasPromtool ? false : 'promtool is not installed (Debian package prometheus)',
  }, () => {
    execFileSync('promtool', ['check', 'rules', path.join(root, 'deploy/prometheus/alerts.yml')]);
  });
});
