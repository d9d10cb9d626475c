// What is published of advisories: alerts and events of the stream, each once, whatever is killed in between.
import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import type { Entry } from '@strata/advisories';
import { detect } from '@strata/detect';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { exploitedAlert } from '../../alerts/alerts.ts';
import type { AdvisoryTable } from '../../store/index.ts';
import {
  type About,
  advisorySettings,
  phpHole,
  sharedAdvisories,
  showing,
  sync,
  syncOnly,
} from '../../test/advisories.ts';
import { assertDescribed } from '../../test/described.ts';
import type { Body } from '../../test/harness.ts';
import { startAging } from '../../test/shared.ts';
import { openStream } from '../../test/stream-reader.ts';

type Alert = Readonly<Record<'id' | 'at' | 'kind' | 'severity' | 'detail' | 'ref', string>>;
interface News extends Body {
  readonly type: string;
  readonly reason: string;
  readonly advisories: readonly (About & { readonly domains: Record<'version' | 'product', number> })[];
}

const DAY_MS = 86_400_000;
const EVENTS = '/stack/v1/stream/json?since=2020-01-01T00:00:00Z&limit=1000';

const shared = await sharedAdvisories();
let { service } = shared;

const kev = () => ({ kev: new Date().toISOString().slice(0, 10) });
const tick = () => service.running.updateLoop.run();
const tickInAMinute = async () => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 61_000 });
  await tick().finally(() => mock.timers.reset());
};

async function alerts(id: string): Promise<Alert[]> {
  const { body } = await service.get('/stack/v1/alerts?limit=1000');
  return (body.alerts as Alert[]).filter((alert) => alert.ref.endsWith(`=${id}`));
}
async function news(id: string, query = ''): Promise<News[]> {
  const { body } = await service.get(`${EVENTS}${query}`);
  return (body.events as News[]).filter((event) => event.advisories?.some((each) => each.id === id));
}
const reasons = async (id: string) => (await news(id)).map(({ reason }) => reason);
const ofProduct = (cpe: string) => ({ affected: [{ cpe, vendor: 'X', product: 'X', versions: [{ below: '900' }] }] });
/** ClickHouse responds, but not to questions about this product. */
function failFor(product: string) {
  const { exposures } = service.running.app;
  const { uses } = exposures;
  return mock.method(exposures, 'uses', async (products: readonly string[]) => {
    if (products.includes(product)) throw new Error('the statement is too long');
    return uses.call(exposures, products);
  });
}
const publish = (id: string, more: object = {}) => shared.publishers.publish(phpHole(id, more));

it('a known-exploited vulnerability of what domains use reaches the alerts, the live stream and the polled one within one sync, once', async () => {
  const id = 'CVE-2026-90001';
  const key = await service.newKey();
  const follow = (query: string) => openStream(`${service.base}/stack/v1/stream?${query}`, { key });
  await using all = await follow('types=advisory');
  await using ofPhp = await follow('provider=php');
  await using ofNginx = await follow('provider=nginx');
  await using migrations = await follow('types=migration');
  publish(id, kev());
  await shared.sync();
  const live = JSON.parse((await all.next('advisory')).data) as News;
  assert.deepEqual([live.type, live.reason, live.advisories.map((each) => each.id)], ['advisory', 'exploited', [id]]);
  assert.deepEqual(JSON.parse((await ofPhp.next('advisory')).data), live);
  const polled = await news(id);
  assert.deepEqual(polled, [live]);
  assert.deepEqual([await news(id, '&provider=nginx'), await news(id, '&types=anomaly')], [[], []]);
  assert.equal((await news(id, '&provider=PHP&types=advisory')).length, 1);
  assert.deepEqual([ofNginx.waiting, migrations.waiting], [0, 0]);

  const [alert, ...rest] = await alerts(id);
  assert.ok(alert && rest.length === 0);
  assert.deepEqual([alert.kind, alert.severity], ['advisory', 'critical']);
  const { version, product } = live.advisories[0]?.domains ?? assert.fail();
  assert.ok(version > 1 && product > 1);
  assert.ok(alert.detail.startsWith(`${version} domains show an affected version; ${product} more use PHP, `));
  assertDescribed('/stack/v1/alerts', (await service.get('/stack/v1/alerts')).body);
  assertDescribed('/stack/v1/stream/json', (await service.get(`${EVENTS}&types=advisory`)).body);
  assert.deepEqual((await service.get(alert.ref)).body.domains, { version, product });

  await service.restart();
  await shared.sync();
  assert.deepEqual([await news(id), await alerts(id)], [polled, [alert]]);
});
it('a known-exploited vulnerability of what domains use is published when all that was synced before a kill is found at the next start', async () => {
  const id = 'CVE-2026-90002';
  publish(id, kev());
  // Synced by another process, or killed before the next tick: the service itself finds it at its start.
  await service.running.updateLoop[Symbol.asyncDispose]();
  await syncOnly(service, shared.publishers);
  for (let start = 0; start < 2; start += 1) {
    await service.restart();
    await tick();
    assert.deepEqual([await reasons(id), (await alerts(id)).length], [['exploited'], 1]);
  }
});
it('a known-exploited vulnerability of what domains use is published once where the alert was written and the event was not', async () => {
  const id = 'CVE-2026-90003';
  // Of all tables of that kind: the scheduler has one of its own in each term.
  const table: AdvisoryTable = Object.getPrototypeOf(service.running.app.store.advisories);
  const { addEvent } = table;
  table.addEvent = function (subject, event) {
    return subject.includes(id) ? Promise.reject(new Error('killed')) : addEvent.call(this, subject, event);
  };
  try {
    publish(id, kev());
    await shared.sync();
    assert.deepEqual([(await news(id)).length, (await alerts(id)).length], [0, 1]);
  } finally {
    table.addEvent = addEvent;
  }
  await tickInAMinute();
  shared.age();
  assert.deepEqual([(await news(id)).length, (await alerts(id)).length], [1, 1]);
});
it('events are published with the figures that they were stored with, without a question about domains', async () => {
  const [id, old] = ['CVE-2026-90009', 'CVE-2026-90010'];
  for (const each of [id, old]) publish(each);
  const { exposures, store } = service.running.app;
  await shared.sync();
  const asked = mock.method(exposures, 'uses', () => Promise.reject(new Error('ClickHouse is away')));
  const touched = { kind: 'advisory-touched', at: new Date(), domain: '' } as const;
  const add = (advisoryId: string, more: object) =>
    store.advisories.addEvent(`test ${advisoryId}`, {
      ...touched,
      payload: { advisoryId, reason: 'exploited', ...more },
    });
  await add(id, { counts: { [id]: { version: 7, product: 3 } } });
  await add(old, {});
  await tick();
  asked.mock.restore();
  shared.age();
  const last = async (of: string) => (await news(of)).at(-1)?.advisories.map(({ match, domains }) => [match, domains]);
  const expected = [[['version', { version: 7, product: 3 }]], [[null, null]]];
  assert.deepEqual([await last(id), await last(old)], expected, 'an earlier version stored none');
  assertDescribed('/stack/v1/stream/json', (await service.get(`${EVENTS}&types=advisory`)).body);
});
it('advisories that fail alone do not hold up later ones, and are published by a later try', async () => {
  const failing = Array.from({ length: 21 }, (_, at) => `CVE-2026-${90_100 + at}`);
  const later = 'CVE-2026-90200';
  const asked = failFor('nginx');
  const failingNow = () => service.running.scheduling?.scheduler.failingAdvisories;
  for (const id of failing) publish(id, ofProduct('f5:nginx'));
  publish(later);
  await shared.sync();
  const both = async () => [(await Promise.all(failing.map(reasons))).flat().length, await reasons(later)];
  await tick();
  assert.deepEqual(await both(), [0, ['published']]);
  await tick();
  asked.mock.restore();
  await tick();
  assert.deepEqual([...(await both()), failingNow()], [0, ['published'], failing.length], 'not before a minute');
  await tickInAMinute();
  assert.deepEqual([...(await both()), failingNow()], [failing.length, ['published'], 0]);
});
it('a known-exploited vulnerability of what domains use is not news when no domain uses it, or when it is old and not exploited', async () => {
  const [unused, old] = ['CVE-2026-90004', 'CVE-2026-90005'];
  publish(unused, { ...kev(), ...ofProduct('someone:something') });
  publish(old, { published: new Date(Date.now() - 31 * DAY_MS).toISOString() });
  await shared.sync();
  for (const id of [unused, old]) assert.deepEqual([await news(id), await alerts(id)], [[], []]);
});

describe('as time passes', () => {
  const resources = new AsyncDisposableStack();
  /** By how much the clock of the service is ahead. */
  let ahead = 0;
  let age: () => void;
  before(async () => {
    const { internet, publishers } = shared;
    const world = { now: () => new Date(Date.now() + ahead) };
    ({ service, age } = await startAging({ internet, world, settings: advisorySettings(publishers) }));
    resources.use(service);
  });
  after(() => resources.disposeAsync());
  const syncAndAge = async () => {
    await sync(service, shared.publishers);
    age();
  };
  const scan = async (domain: string) => {
    await service.scan(domain);
    await tick();
    age();
  };

  it('a scan that brings a domain within reach of an exploited one raises the alert, and updates its figures', async () => {
    const [id, failing] = ['CVE-2026-90006', 'CVE-2026-90011'];
    publish(id, kev());
    publish(failing, { ...kev(), ...ofProduct('f5:nginx') });
    await syncAndAge();
    assert.deepEqual([await alerts(id), await news(id)], [[], []]);
    const users = showing(shared.internet, 'php');
    const [one = '', two = ''] = users;
    const asked = failFor('nginx');
    await scan(showing(shared.internet, 'nginx').find((each) => !users.includes(each)) ?? assert.fail());
    await scan(one);
    assert.deepEqual(await alerts(failing), [], 'the scan after it is evaluated');
    asked.mock.restore();
    ahead += 61_000;
    await syncAndAge();
    assert.deepEqual([await reasons(failing), (await alerts(failing)).length], [['exploited'], 1]);
    const [alert] = await alerts(id);
    assert.match(alert?.detail ?? '', /^(1 domain shows an affected version|No domain shows .*; 1 uses PHP)/);
    assert.deepEqual(await reasons(id), ['exploited']);
    await scan(two);
    const [again, ...rest] = await alerts(id);
    assert.deepEqual([again?.id, again?.at, rest.length], [alert?.id, alert?.at, 0]);
    assert.notEqual(again?.detail, alert?.detail);
    assert.equal((await news(id)).length, 1);
  });
  it('one that is published first and exploited later is reported in this order, and alerted to once', async () => {
    const id = 'CVE-2026-90007';
    publish(id);
    // Answers without the events before an advisory may not have the domains with the product: it waits for them.
    const { analytics, log } = service.running.app;
    const { seq, scanId } = log.position;
    const behind = mock.method(analytics, 'asOf', async () => ({ seq: seq - 1, scanId }));
    await syncAndAge();
    assert.deepEqual(await reasons(id), []);
    behind.mock.restore();
    await syncAndAge();
    assert.deepEqual([await reasons(id), await alerts(id)], [['published'], []]);
    shared.publishers.exploit(id);
    await syncAndAge();
    assert.deepEqual(await reasons(id), ['published', 'exploited']);
    const [alert] = await alerts(id);
    // A score that moves, weeks later, is no reason to raise it again.
    ahead += 20 * DAY_MS;
    shared.publishers.advance(1);
    await syncAndAge();
    assert.deepEqual(await alerts(id), [alert]);
  });
  it('a domain is reported as exposed once, and never for a change that has nothing to do with it', async () => {
    const id = 'CVE-2026-90008';
    const { internet } = shared;
    const isPlain = (each: string) => internet.truth(each).versions.nginx?.platform === null;
    const domain = showing(internet, 'nginx').find(isPlain) ?? assert.fail();
    const { app } = service.running;
    publish(id, { ...kev(), ...ofProduct('f5:nginx') });
    await syncAndAge();
    await scan(domain);
    const exposed = async () => (await news(id, `&domain=${domain}`)).filter(({ reason }) => reason === 'exposed');
    assert.deepEqual(await exposed(), [], 'it was so when first scanned');

    const shown = app.exposures.ofServices((await app.store.domains.profile(domain))?.services ?? []);
    assert.ok(shown.some(({ entry, isAffected }) => entry.advisory.id === id && isAffected));
    const scanThreeDays = async () => {
      for (let day = 0; day < 3; day += 1) {
        ahead += DAY_MS;
        await scan(domain);
      }
    };
    ahead += DAY_MS;
    internet.migrate(domain, { category: 'dns', to: 'ns1' });
    await scanThreeDays();
    assert.deepEqual(await exposed(), [], 'another DNS provider is no exposure');

    // A scan that showed a version out of every range; the next one shows the affected one again.
    ahead += DAY_MS;
    const evidence = await app.prober.probe(domain);
    const profile = detect(evidence, app.rulebook);
    const fixed = profile.services.map((each) => (each.provider === 'nginx' ? { ...each, version: '999.0.0' } : each));
    const at = app.clock();
    const scanned = { profile: { ...profile, services: fixed }, evidence, startedAt: at, finishedAt: at };
    await app.store.recordScans([scanned], { confirmAfterMs: 0 });
    await tick();
    assert.deepEqual(await exposed(), [], 'it is out of reach');
    await scanThreeDays();
    const [event, ...rest] = await exposed();
    assert.deepEqual([event?.domain, event?.reason, rest.length], [domain, 'exposed', 0]);
    assert.deepEqual(await news(id, '&domain=another.com'), []);
  });
});

for (const [version, product, severity, detail] of casesOf<[number, number, string, string][]>(
  'stack',
  'texts of alerts',
))
  it(`the text of an alert agrees with the figures, and never calls affected what only uses the product: ${version} by version, ${product} by product`, () => {
    const exploited = { cve: 'CVE-1', dateAdded: '2026-01-31', dueDate: null, isRansomware: false };
    const entry = { advisory: { id: 'CVE-1' }, exploited, products: ['php'] } as unknown as Entry;
    const names = { nameOf: () => 'PHP', ownerOf: () => 'PHP' } as never;
    const alert = exploitedAlert({ entry, counts: { version, product }, at: new Date(0), names });
    const expected = `${detail} In CISA's catalogue since 2026-01-31.`;
    assert.deepEqual([alert.severity, alert.detail], [severity, expected]);
  });
