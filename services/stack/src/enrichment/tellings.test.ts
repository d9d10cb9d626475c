// What is told of advisories: alerts and events of the stream, each once, whatever is killed in between.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Entry } from '@strata/advisories';
import { detect } from '@strata/detect';
import type { AdvisoryTable } from '@strata/store';
import type { AdvisorySources, Internet } from '@strata/testnet';
import { exploitedAlert } from '../alerts.ts';
import { advisorySettings, sync, syncOnly } from '../test/advisories.ts';
import { assertDescribed } from '../test/described.ts';
import { type Body, type Harness, smallInternet, startHarness } from '../test/harness.ts';
import { openStream } from '../test/stream-reader.ts';

interface Alert {
  readonly id: string;
  readonly at: string;
  readonly kind: string;
  readonly severity: string;
  readonly title: string;
  readonly detail: string;
  readonly ref: string;
}
interface News extends Body {
  readonly type: string;
  readonly reason: string;
  readonly advisories: readonly {
    readonly id: string;
    readonly match: string;
    readonly domains: { readonly version: number; readonly product: number };
  }[];
}

const DAY_MS = 86_400_000;
const HOLE = 'CVE-2026-90001';

let internet: Internet;
let publishers: AdvisorySources;
let service: Harness;
/** By how much the clock of the service is ahead. */
let ahead: number;

beforeEach(async () => {
  internet = await smallInternet();
  publishers = await internet.advisories();
  ahead = 0;
  const world = { now: () => new Date(Date.now() + ahead) };
  service = await startHarness({ internet, world, settings: advisorySettings(publishers) });
});
afterEach(async () => {
  await service?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
});

const hole = (id: string, cpe: string, more: object = {}) => ({
  id,
  title: 'A hole',
  vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  affected: [{ cpe, vendor: 'Someone', product: 'Something', versions: [{ below: '900' }] }],
  ...more,
});
const kev = () => ({ kev: new Date().toISOString().slice(0, 10) });
const beat = () => service.running.service.app.pulse.now();
const showing = (product: string) =>
  internet.domains().filter((domain) => internet.truth(domain).versions[product]?.version != null);

async function alerts(id = HOLE): Promise<Alert[]> {
  const { body } = await service.get('/stack/v1/alerts?limit=1000');
  return (body.alerts as Alert[]).filter((alert) => alert.ref.endsWith(`=${id}`));
}
async function news(query = '', id = HOLE): Promise<News[]> {
  const { body } = await service.get(`/stack/v1/stream/json?since=2020-01-01T00:00:00Z&limit=1000${query}`);
  return (body.events as News[]).filter((event) => event.advisories?.some((each) => each.id === id));
}
/** Answers older than a second are made anew. */
const aSecond = () => new Promise((resolve) => setTimeout(resolve, 1_050));

describe('a known-exploited vulnerability of what domains use', () => {
  it('reaches the alerts, the live stream and the polled one within one sync, once', async () => {
    await service.scan(...internet.domains());
    await sync(service, publishers);
    const key = await service.newKey();
    await using all = await openStream(`${service.base}/stack/v1/stream?types=advisory`, { key });
    await using ofPhp = await openStream(`${service.base}/stack/v1/stream?provider=php`, { key });
    await using ofNginx = await openStream(`${service.base}/stack/v1/stream?provider=nginx`, { key });
    await using migrations = await openStream(`${service.base}/stack/v1/stream?types=migration`, { key });
    publishers.publish(hole(HOLE, 'php:php', kev()));
    await sync(service, publishers);
    const live = JSON.parse((await all.next('advisory')).data) as News;
    assert.deepEqual([live.type, live.reason, live.advisories.map(({ id }) => id)], ['advisory', 'exploited', [HOLE]]);
    assert.deepEqual(JSON.parse((await ofPhp.next('advisory')).data), live);
    const polled = await news();
    assert.deepEqual(polled, [live]);
    assert.deepEqual([await news('&provider=nginx'), await news('&types=anomaly')], [[], []]);
    assert.equal((await news('&provider=PHP&types=advisory')).length, 1);
    assert.deepEqual([ofNginx.waiting, migrations.waiting], [0, 0]);

    const [alert, ...others] = await alerts();
    assert.ok(alert && others.length === 0);
    assert.deepEqual([alert.kind, alert.severity], ['advisory', 'critical']);
    const { version, product } = live.advisories[0]?.domains ?? assert.fail();
    assert.ok(version > 1 && product > 1);
    assert.ok(alert.detail.startsWith(`${version} domains show an affected version; ${product} more use PHP, `));
    assertDescribed('/stack/v1/alerts', (await service.get('/stack/v1/alerts')).body);
    const since = '2020-01-01T00:00:00Z';
    const { body: events } = await service.get(`/stack/v1/stream/json?types=advisory&since=${since}`);
    assertDescribed('/stack/v1/stream/json', events);
    const { body } = await service.get(alert.ref);
    assert.deepEqual(body.domains, { version, product });

    for (let again = 0; again < 2; again += 1) {
      await service.restart();
      await sync(service, publishers);
      assert.deepEqual([await news(), await alerts()], [polled, [alert]]);
    }
  });

  it('is told when all that was synced before a kill is found at the next start', async () => {
    await service.scan(...internet.domains());
    await beat();
    await service.restart();
    publishers.publish(hole(HOLE, 'php:php', kev()));
    // Synced by another process, or killed before the beat: the service itself sees it at its start.
    const { app } = service.running.service;
    await app.pulse[Symbol.asyncDispose]();
    await syncOnly(service, publishers);
    await service.restart();
    await beat();
    assert.deepEqual(
      (await news()).map(({ reason }) => reason),
      ['exploited'],
    );
    assert.equal((await alerts()).length, 1);
    await service.restart();
    await beat();
    assert.deepEqual([(await news()).length, (await alerts()).length], [1, 1]);
  });

  it('is told once where the alert was written and the event was not', async () => {
    await service.scan(...internet.domains());
    await beat();
    // Of all tables of that kind: the scheduler has one of its own in each term.
    const table: AdvisoryTable = Object.getPrototypeOf(service.running.service.app.store.advisories);
    const { tell } = table;
    table.tell = function (subject, event) {
      return subject.includes(HOLE) ? Promise.reject(new Error('killed')) : tell.call(this, subject, event);
    };
    publishers.publish(hole(HOLE, 'php:php', kev()));
    await sync(service, publishers);
    assert.deepEqual([(await news()).length, (await alerts()).length], [0, 1]);
    table.tell = tell;
    await beat();
    await aSecond();
    assert.deepEqual([(await news()).length, (await alerts()).length], [1, 1]);
  });

  it('is published first and exploited later: each is told, in this order, and alerted to once', async () => {
    await service.scan(...internet.domains());
    publishers.publish(hole(HOLE, 'php:php'));
    await sync(service, publishers);
    assert.deepEqual([(await news()).map(({ reason }) => reason), await alerts()], [['published'], []]);
    publishers.exploit(HOLE);
    await sync(service, publishers);
    await aSecond();
    assert.deepEqual(
      (await news()).map(({ reason }) => reason),
      ['published', 'exploited'],
    );
    const [alert] = await alerts();
    // A score that moves, weeks later, is no reason to raise it again.
    ahead += 20 * DAY_MS;
    publishers.advance(1);
    await sync(service, publishers);
    await aSecond();
    assert.deepEqual(await alerts(), [alert]);
  });

  it('is no news when nobody uses it, or when it is old and nobody exploits it', async () => {
    await service.scan(...internet.domains());
    publishers.publish(hole(HOLE, 'someone:something', kev()));
    publishers.publish(
      hole('CVE-2026-90002', 'php:php', { published: new Date(Date.now() - 31 * DAY_MS).toISOString() }),
    );
    await sync(service, publishers);
    for (const id of [HOLE, 'CVE-2026-90002']) assert.deepEqual([await news('', id), await alerts(id)], [[], []]);
  });
});

describe('a scan that brings a domain within reach', () => {
  it('of one that was exploited before raises the alert, and brings its figures up to date', async () => {
    publishers.publish(hole(HOLE, 'php:php', kev()));
    await sync(service, publishers);
    assert.deepEqual([await alerts(), await news()], [[], []]);
    const [one = '', two = ''] = showing('php');
    await service.scan(one);
    await beat();
    await aSecond();
    const [alert] = await alerts();
    assert.match(alert?.detail ?? '', /^(1 domain shows an affected version|No domain shows .*; 1 uses PHP)/);
    assert.deepEqual(
      (await news()).map(({ reason }) => reason),
      ['exploited'],
    );
    await service.scan(two);
    await beat();
    await aSecond();
    const [again, ...others] = await alerts();
    assert.deepEqual([again?.id, again?.at, others.length], [alert?.id, alert?.at, 0]);
    assert.notEqual(again?.detail, alert?.detail);
    assert.equal((await news()).length, 1);
  });

  it('is told as exposed once, and never for a change that has nothing to do with it', async () => {
    const domain =
      showing('nginx').find((each) => internet.truth(each).versions.nginx?.platform === null) ?? assert.fail();
    const { app } = service.running.service;
    publishers.publish(hole(HOLE, 'f5:nginx', kev()));
    await sync(service, publishers);
    await service.scan(domain);
    await beat();
    const exposed = async () => (await news(`&domain=${domain}`)).filter(({ reason }) => reason === 'exposed');
    assert.deepEqual(await exposed(), [], 'it was so when first seen');

    const shown = app.exposures.ofDomain(app.index.names.find(domain) ?? -1);
    assert.ok(shown.some(({ entry, isAffected }) => entry.advisory.id === HOLE && isAffected));
    ahead += DAY_MS;
    internet.migrate(domain, { category: 'dns', to: 'ns1' });
    for (let look = 0; look < 3; look += 1) {
      ahead += DAY_MS;
      await service.scan(domain);
      await beat();
    }
    assert.deepEqual(await exposed(), [], 'another DNS provider is no exposure');

    // A scan that showed a version out of every range; the next one shows the affected one again.
    ahead += DAY_MS;
    const evidence = await app.prober.probe(domain);
    const profile = detect(evidence, app.rulebook);
    const mended = profile.services.map((seen) => (seen.provider === 'nginx' ? { ...seen, version: '999.0.0' } : seen));
    const at = app.clock();
    await app.store.recordScan(
      { profile: { ...profile, services: mended }, evidence, startedAt: at, finishedAt: at },
      { confirmAfterMs: 0 },
    );
    await beat();
    assert.deepEqual(await exposed(), [], 'it is out of reach');
    for (let look = 0; look < 3; look += 1) {
      ahead += DAY_MS;
      await service.scan(domain);
      await beat();
    }
    const [event, ...others] = await exposed();
    assert.deepEqual([event?.domain, event?.reason, others.length], [domain, 'exposed', 0]);
    assert.equal((await news('&domain=somebody-else.com')).length, 0);
  });
});

describe('the words of an alert', () => {
  const detail = (version: number, product: number) => {
    const entry = {
      advisory: { id: HOLE },
      exploited: { cve: HOLE, dateAdded: '2026-01-31', dueDate: null, isRansomware: false, requiredAction: '' },
      products: ['php'],
    } as unknown as Entry;
    const names = { nameOf: () => 'PHP', ownerOf: () => 'PHP' } as unknown as Parameters<
      typeof exploitedAlert
    >[0]['names'];
    const alert = exploitedAlert({ entry, counts: { version, product }, at: new Date(0), names });
    return [alert.severity, alert.detail.replace(" In CISA's catalogue since 2026-01-31.", '')];
  };

  it('agree with the figures, and never call affected what only uses the product', () => {
    assert.deepEqual(detail(1, 0), ['critical', '1 domain shows an affected version.']);
    assert.deepEqual(detail(2, 1), [
      'critical',
      '2 domains show an affected version; 1 more uses PHP, whether it is affected is not known.',
    ]);
    assert.deepEqual(detail(0, 1), [
      'high',
      'No domain shows an affected version; 1 uses PHP, whether it is affected is not known.',
    ]);
    assert.deepEqual(detail(0, 12), [
      'high',
      'No domain shows an affected version; 12 use PHP, whether they are affected is not known.',
    ]);
  });
});
