import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { DAY_MS } from '@strata/analytics';
import { createLogger } from '@strata/http';
import { rulebook } from '../../../../tests/support/rulebook.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { Exposures } from '../enrichment/exposure/exposures.ts';
import { EventBus } from '../events.ts';
import { knownNames } from '../index/known-names.ts';
import { openDomains } from '../index/open-domains.ts';
import { openStore } from '../store/index.ts';
import { evidenceAt, HOUR_MS, recordScan } from '../test/recorded-scans.ts';
import { Watch } from './watch.ts';

const START = Date.parse('2026-03-01T00:00:00Z');
const NS = { cloudflare: 'ada.ns.cloudflare.com', ns1: 'dns1.p01.nsone.net', ovh: 'ns1.ovh.net' } as const;

interface Company {
  readonly name: string;
  ns: string;
  dmarc?: string | null;
  txt: readonly string[];
}

/** Companies that are scanned each day, and a watch over them. */
async function openTown(count: number) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const store = stack.use(await openStore(`sqlite:${directory.path}/strata.db`));
  const file = path.join(directory.path, 'index.snapshot');
  const logger = createLogger({ level: 'silent' });
  const events = new EventBus(logger);
  const live = stack.use(await openDomains({ store, file, clickhouse: undefined, logger, events, rulebook }));
  const { analytics, known } = live;
  let now = START;
  const exposures = await Exposures.open({ store, analytics, rulebook });
  const names = knownNames(rulebook);
  const deps = { store, analytics, known, names, exposures, now: () => new Date(now), events, setAside: () => {} };
  const watch = await Watch.open(deps);
  const company = (i: number): Company => ({ name: `company-${i}.com`, ns: NS.cloudflare, txt: ['v=spf1 -all'] });
  const companies = Array.from({ length: count }, (_, i) => company(i));
  const owned = stack.move();
  const town = {
    store,
    companies,
    async watch(): Promise<void> {
      await live.catchUp();
      await watch.evaluate();
    },
    /** Two scans of all companies on this day, twelve hours apart, so that what moved is confirmed on it. */
    async day(day: number, hours: readonly number[] = [6, 18]): Promise<void> {
      for (const hour of hours) {
        now = START + day * DAY_MS + hour * HOUR_MS;
        for (const { name: domain, ns, dmarc, txt } of companies) {
          const record = { domain, ns: [ns], txt: [...txt], ...(dmarc ? { dmarc } : {}) };
          await recordScan(store, evidenceAt(record, now, { failed: dmarc === null ? ['dmarc'] : [] }));
        }
      }
      await town.watch();
    },
    async days(from: number, to: number, hours?: readonly number[]): Promise<void> {
      for (let day = from; day <= to; day += 1) await town.day(day, hours);
    },
    anomalies: async () => (await store.signals.anomalies({}, 100)).anomalies.map(({ id }) => id).sort(),
    alerts: async () => (await store.signals.alerts(100)).alerts,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return town;
}

it('the watch finds the day on which a provider lost many, once, and raises one alert with the latest figures', async () => {
  await using town = await openTown(60);
  await town.days(0, 20, [18]);
  assert.deepEqual(await town.anomalies(), [], 'a first scan and quiet days are no anomaly');
  for (const company of town.companies.slice(0, 25)) company.ns = NS.ns1;
  await town.day(21);
  const [early] = await town.alerts();
  assert.deepEqual([early?.kind, early?.provider], ['migration', 'cloudflare']);
  assert.match(early?.title ?? '', /^25 domains left Cloudflare/);
  assert.deepEqual(await town.anomalies(), [], 'a day is judged when it is over');
  await town.day(22);
  const found = await town.anomalies();
  for (const series of ['provider_cloudflare_losses', 'provider_ns1_gains', 'category_dns_migrations'])
    assert.ok(found.includes(`an_2026-03-22_${series}`), found.join());
  const alerts = await town.alerts();
  assert.equal(new Set(alerts.map(({ subject }) => subject)).size, alerts.length, 'no subject twice');
  await town.watch();
  await town.days(23, 25);
  assert.equal((await town.alerts()).filter(({ kind }) => kind === 'migration').length, 1);
  const events = (await town.store.events.since(0, 100_000)).filter(({ kind }) => kind === 'anomaly-found');
  assert.equal(events.length, (await town.anomalies()).length, 'each is published once');
});
it('the watch weighs those who left against those who used the provider for the same', async () => {
  await using town = await openTown(90);
  for (const company of town.companies.slice(0, 30)) company.ns = NS.ovh;
  for (const company of town.companies.slice(30)) company.txt = ['ovhcontrol=1'];
  await town.days(0, 1);
  for (const company of town.companies.slice(0, 10)) company.ns = NS.ns1;
  await town.days(2, 3);
  const alerts = (await town.alerts()).filter(({ kind }) => kind === 'migration');
  const [alert, ...rest] = alerts;
  assert.deepEqual([alert?.provider, alert?.severity, rest.length], ['ovhcloud', 'high', 0]);
  const expected = '33.3 % of the domains that used OVHcloud for dns left it, most often for NS1 (10).';
  assert.equal(alert?.detail, expected);
});
it('the watch reports a security regression once, and none where a look-up failed', async () => {
  await using town = await openTown(3);
  const [removes, weakens, fails] = town.companies as [Company, Company, Company];
  for (const company of town.companies) company.dmarc = 'v=DMARC1; p=reject; rua=mailto:x@vali.email';
  await town.days(0, 1);
  delete removes.dmarc;
  weakens.dmarc = 'v=DMARC1; p=none';
  fails.dmarc = null;
  await town.days(2, 4);
  removes.dmarc = 'v=DMARC1; p=reject';
  await town.day(5);
  delete removes.dmarc;
  await town.day(6);
  const alerts = await town.alerts();
  assert.deepEqual(alerts.map(({ kind, domain, severity, title }) => [kind, domain, severity, title]).sort(), [
    ['security', 'company-0.com', 'high', 'DMARC removed: company-0.com'],
    ['security', 'company-1.com', 'medium', 'DMARC weakened: company-1.com'],
  ]);
  assert.equal(alerts[0]?.ref, `/stack/v1/domains/${alerts[0]?.domain}`);
});
it('the watch finds a domain whose stack grows far more than usual', async () => {
  await using town = await openTown(2);
  await town.days(0, 18, [18]);
  const [grown] = town.companies as [Company];
  const senders = '_spf.google.com sendgrid.net mailgun.org amazonses.com servers.mcsv.net mail.zendesk.com';
  const tokens = 'google-site facebook-domain atlassian-domain apple-domain adobe-idp-site stripe zoom-domain';
  grown.txt = [
    `v=spf1 ${senders.replaceAll(/\S+/g, 'include:$&')} -all`,
    ...['MS=ms12345678', 'docusign=a', ...tokens.split(' ').map((token) => `${token}-verification=a`)],
    ...Array.from({ length: 30 }, (_, i) => `note-${i}`),
  ];
  await town.days(19, 20);
  const found = await town.anomalies();
  const isOfGrown = (id: string) => id.endsWith('domain_company-0.com_records');
  assert.ok(found.some(isOfGrown), found.join());
  assert.equal((await town.store.signals.anomalies({ domain: 'company-1.com' }, 10)).total, 0);
});
