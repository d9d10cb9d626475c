// The simulated internet: generated from a seed, served on loopback, advanced by days, with known ground truth.
import { type AdvisorySources, createAdvisorySources } from './advisories/sources.ts';
import { applyMigration, type MigratingCategory, type Migration, migrationOn } from './companies/migrate.ts';
import { companyNames, SUFFIXES } from './companies/names.ts';
import { planOf, stateOf } from './companies/plan.ts';
import type { Plan } from './companies/plan-type.ts';
import { type Truth, truthOf } from './companies/truth.ts';
import { startNameServers, treeOf } from './dns/name-servers.ts';
import { Model } from './dns/published-records.ts';
import { type VantageOptions, vantageOf } from './dns/vantage.ts';
import { createFeeds, type FeedTruth, type ListedFeed } from './feeds/feeds.ts';
import { Certificates } from './web/certificates.ts';
import { startWebServers } from './web/web-server.ts';
import { type World, worldOf } from './world.ts';

export interface InternetOptions {
  /** Same seed, same internet. */
  readonly seed?: string;
  /** Companies; 500 by default, tested up to 20,000. */
  readonly domains?: number;
  /**
   * A rulebook's entries. A fifth of every kind of provider is then drawn from entries without a handwritten template,
   * and publishes what their patterns match.
   */
  readonly catalog?: readonly unknown[];
  /** Broken zones, slow and refusing sites, bad certificates; on by default. */
  readonly hasFaults?: boolean;
  /** Packet loss and poisoning; by default only with faults. */
  readonly vantage?: VantageOptions;
  /** Share of the companies that change something on a day. */
  readonly migrationShare?: number;
  /** Port of the recursive resolver; 0 lets the system choose. */
  readonly port?: number;
  /** Feeds on the sites of companies and of additional publishers; 40 by default. */
  readonly feeds?: number;
  /** The clock that dates feeds and advisories; the real clock by default. */
  readonly now?: () => Date;
}

/** The feeds of an internet, and what readers asked of them. */
interface InternetFeeds {
  /** Every feed at its first address; moved feeds also answer at their new address. */
  feeds(): readonly ListedFeed[];
  /** What a reader should find in a feed now. Throws RangeError if there is no feed at the address. */
  feedTruth(url: string): FeedTruth;
}

export interface Internet extends InternetFeeds, AsyncDisposable {
  readonly day: number;
  domains(): readonly string[];
  /** The ground truth of a company. Throws RangeError for an unknown name. */
  truth(domain: string): Truth;
  /** Advances the clock; returns the changes. `share` replaces `migrationShare`. */
  advance(days: number, share?: number): readonly Migration[];
  /** Makes one company change now. */
  migrate(
    domain: string,
    change: { readonly category: MigratingCategory; readonly from?: string | null; readonly to: string | null },
  ): Migration;
  /** Breaks the lookups of one record type of a domain (`*` for all), until `heal`. */
  fail(domain: string, fault: { readonly type: string; readonly status: 'servfail' | 'timeout' }): void;
  heal(domain: string): void;
  /** Recursive resolver for stub use. */
  readonly resolver: { readonly address: string; readonly port: number };
  /** Root server, to follow delegations from. */
  readonly root: { readonly address: string; readonly port: number };
  /** The local listener of a simulated address. */
  dial(to: { readonly address: string; readonly port: number }): { readonly address: string; readonly port: number };
  /** The publishers of advisories: started by the first call, and advanced by `advance` from then on. */
  advisories(): Promise<AdvisorySources>;
  /** Root certificate of the sites' chains. */
  readonly caPem: string;
}

const FAULTY_VANTAGE = { lossShare: 0.05, poisonShare: 0.02 } as const satisfies VantageOptions;

export async function createInternet(options: InternetOptions = {}): Promise<Internet> {
  const { seed = 'strata', domains: count = 500, hasFaults = true, migrationShare = 0.005, port = 0 } = options;
  const world = worldOf(seed, options.catalog);
  const taken = new Set(world.providerNames.map(({ suffix }) => suffix.split('.').slice(-2).join('.')));
  const names = companyNames(seed, count, (name) => taken.has(name));
  const companies = new Set(names);
  const changed = new Map<string, { plan: Plan; version: number }>();
  const faults = new Map<string, Map<string, 'servfail' | 'timeout'>>();
  let day = 0;
  let advisories: Promise<AdvisorySources> | undefined;
  let publishing: AdvisorySources | undefined;

  // Redirect targets: the existing companies among the first thousand.
  let targets: readonly string[] | undefined;
  const hosts = () => {
    targets ??= names.slice(0, 1_000).filter((name) => stateOf(name, { seed, hasFaults }) === 'active');
    return targets;
  };
  const basePlan = (domain: string) =>
    planOf(domain, world, {
      hasFaults,
      other: (random) => random.pick(hosts().filter((name) => name !== domain)),
    });
  const kept = new Map<string, Plan>();
  const currentPlan = (domain: string): Plan | undefined => {
    if (!companies.has(domain)) return undefined;
    const override = changed.get(domain);
    if (override) return override.plan;
    let plan = kept.get(domain);
    if (!plan) {
      plan = basePlan(domain);
      kept.set(domain, plan);
    }
    return plan;
  };
  const change = (plan: Plan) =>
    changed.set(plan.domain, { plan, version: (changed.get(plan.domain)?.version ?? 0) + 1 });
  const known = (domain: string): Plan => {
    const plan = currentPlan(domain);
    if (!plan) throw new RangeError(`'${domain}' is not one of the companies`);
    return plan;
  };

  const feeds = createFeeds({
    seed,
    world,
    count: options.feeds ?? 40,
    companies: names,
    isTaken: (name) => taken.has(name) || companies.has(name),
    companyPlan: basePlan,
    isActive: (name) => stateOf(name, { seed, hasFaults }) === 'active',
    now: options.now ?? (() => new Date()),
    today: () => day,
  });

  await using stack = new AsyncDisposableStack();
  const model = new Model({
    world,
    planOf: (domain) => currentPlan(domain) ?? feeds.planOf(domain),
    versionOf: (domain) => changed.get(domain)?.version ?? 0,
  });
  const dns = stack.use(
    await startNameServers(model, treeOf(tldsOf(world), world.servers), {
      port,
      vantage: vantageOf(seed, { ...(hasFaults ? FAULTY_VANTAGE : {}), ...options.vantage }),
      faultOf: (domain, type) => faults.get(domain)?.get(type) ?? faults.get(domain)?.get('*'),
    }),
  );
  const certificates = await Certificates.create(world.templates.authority);
  const web = stack.use(
    await startWebServers({
      world,
      companyOf: (host) => model.companyOf(host),
      // Companies that share a certificate: any of the first thousand.
      neighbours: () => hosts(),
      exchangesOf: (plan) => model.exchangesOf(plan),
      certificates,
      feeds,
    }),
  );
  const owned = stack.move();

  return {
    get day() {
      return day;
    },
    domains: () => names,
    truth: (domain) => truthOf(known(domain), world),
    advance(days, share = migrationShare) {
      const migrations: Migration[] = [];
      for (let i = 0; i < days; i += 1) {
        day += 1;
        publishing?.advance(1);
        for (const name of names) {
          const plan = known(name);
          const migration = migrationOn(plan, day, { seed, share });
          if (!migration) continue;
          migrations.push(migration);
          change(applyMigration(plan, migration));
        }
      }
      return migrations;
    },
    migrate(domain, { category, from, to }) {
      const plan = known(domain);
      const current: Partial<Record<MigratingCategory, string | null>> = {
        email: plan.mailbox,
        email_security: plan.gateway,
        dns: plan.dns[0] ?? null,
        hosting: plan.hosting,
        cdn: plan.cdn,
      };
      const migration = { domain, day, category, from: from ?? current[category] ?? null, to };
      change(applyMigration(plan, migration));
      return migration;
    },
    fail(domain, { type, status }) {
      known(domain);
      const ofDomain = faults.get(domain) ?? new Map<string, 'servfail' | 'timeout'>();
      faults.set(domain, ofDomain.set(type, status));
    },
    heal: (domain) => void faults.delete(domain),
    resolver: dns.resolver,
    root: dns.root,
    dial: (to) => web.dial(to),
    feeds: () => feeds.list(),
    feedTruth: (url) => feeds.truth(url),
    advisories() {
      advisories ??= createAdvisorySources({ seed, now: options.now ?? (() => new Date()) }).then((sources) => {
        publishing = sources;
        return sources;
      });
      return advisories;
    },
    caPem: certificates.rootPem,
    async [Symbol.asyncDispose]() {
      await (await advisories?.catch(() => undefined))?.[Symbol.asyncDispose]();
      await owned.disposeAsync();
    },
  };
}

/** Top-level domains of the companies and of every provider's names. */
function tldsOf({ templates, providerNames }: World): string[] {
  const last = (name: string) => name.slice(name.lastIndexOf('.') + 1);
  const hosts = [...templates.dns.rows, ...templates.dns.tail, ...templates.parking.rows].flatMap((row) => row.zones);
  return [
    ...new Set([
      ...SUFFIXES.map(({ suffix }) => last(suffix)),
      ...providerNames.map(({ suffix }) => last(suffix)),
      ...hosts.map(last),
    ]),
  ];
}
