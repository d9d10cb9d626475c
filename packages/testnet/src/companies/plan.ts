// What one company runs: drawn from (seed, domain), then changed by migrations.

import type { Templates } from '../providers/index.ts';
import { FORWARDERS, regionalHosters } from '../providers/mail.ts';
import { drawSiteServices } from '../providers/site-services.ts';
import { type Random, randomFor } from '../random.ts';
import type { World } from '../world.ts';
import { fitted } from './fitted-plan.ts';
import type { BasePlan, CertificateKind, Plan, SiteBehaviour, ZoneFault } from './plan-type.ts';
import { situationOf } from './situations.ts';
import { withTail } from './tailed-plan.ts';

const ACCESS: readonly string[] = ['telekom', 'comcast', 'bt', 'orange', 'kpn'];

interface PlanOptions {
  readonly hasFaults: boolean;
  /** Another company, the target of redirects. */
  readonly other: (random: Random) => string;
}

export function planOf(domain: string, { seed, templates }: World, { hasFaults, other }: PlanOptions): Plan {
  const base = basePlanOf(domain, randomFor(seed, domain, 'plan'), templates, { hasFaults, other });
  // Separate random streams: adding a long tail or a situation does not change the rest of the world.
  const tailed = withTail(base, randomFor(seed, domain, 'tail'), templates);
  const { cdn, hosting } = tailed;
  const hasOwnServer = cdn === null && (hosting === 'self' || templates.hosting.of(hosting).platforms === undefined);
  const siteServices = drawSiteServices(randomFor(seed, domain, 'site services'), { hasOwnServer });
  const situation = situationOf(randomFor(seed, domain, 'situation'), templates);
  return fitted({ ...tailed, siteServices, situation }, templates, seed);
}

function basePlanOf(domain: string, r: Random, templates: Templates, { hasFaults, other }: PlanOptions): BasePlan {
  const state = drawState(r, hasFaults);
  const fault = r.pick<ZoneFault>(['servfail', 'lame', 'silent', 'slow']);
  const cdn = r.chance(0.34) ? r.weighted(templates.cdn.rows).id : null;
  const mailbox = drawMailbox(r, templates);
  const site = drawSite(r, hasFaults);
  const hosting = r.chance(0.07) ? 'self' : r.weighted(templates.hosting.rows).id;
  const hasGateway = !['null-mx', 'none'].includes(mailbox) && !FORWARDERS.has(mailbox) && r.chance(0.14);
  return {
    domain,
    state,
    fault: state === 'broken' ? fault : null,
    parking: r.weighted(templates.parking.rows).id,
    dns: drawDns(r, cdn, templates),
    mailbox,
    gateway: hasGateway ? r.weighted(templates.gateway.rows).id : null,
    senders: draw(r, templates.sender.rows, [0.42, 0.28, 0.18, 0.12]),
    reports: r.chance(0.22) ? r.weighted(templates.reports.rows).id : null,
    tokens: draw(r, templates.token.rows, [0.25, 0.2, 0.17, 0.13, 0.1, 0.06, 0.04, 0.03, 0.02]),
    hosting,
    accessNetwork: r.pick(ACCESS),
    regional: r.pick(regionalHosters).zone,
    cdn: hosting !== 'self' && fitsBehindCdn(hosting, templates) ? cdn : null,
    platform: drawPlatform(r, hosting, templates),
    server: r.weighted(templates.server.rows).id,
    authority: drawAuthority(r, hosting, cdn, templates),
    certificate:
      hasFaults && r.chance(0.03) ? r.pick<CertificateKind>(['expired', 'self-signed', 'wrong-name']) : 'good',
    site,
    redirectsTo: site === 'redirects' ? other(r) : null,
    dmarc: r.chance(0.7)
      ? r.weighted([
          { weight: 45, p: 'none' as const },
          { weight: 27, p: 'quarantine' as const },
          { weight: 28, p: 'reject' as const },
        ]).p
      : null,
    spfAll: r.chance(0.9)
      ? r.weighted([
          { weight: 60, a: '~all' as const },
          { weight: 35, a: '-all' as const },
          { weight: 5, a: '?all' as const },
        ]).a
      : null,
    isSigned: r.chance(0.08),
    isBogus: false,
    hasCaa: r.chance(0.12),
    hasMtaSts: r.chance(0.04),
    hasTlsRpt: r.chance(0.05),
    hasBimi: r.chance(0.03),
    hasIpv6: r.chance(0.25),
    isOldTls: hasFaults && r.chance(0.12),
  };
}

/** A company's state only, without generating the rest of its plan. */
export function stateOf(
  domain: string,
  { seed, hasFaults }: { readonly seed: string; readonly hasFaults: boolean },
): Plan['state'] {
  return drawState(randomFor(seed, domain, 'plan'), hasFaults);
}

function drawState(r: Random, hasFaults: boolean): Plan['state'] {
  const fate = r.next();
  return fate < 0.08 ? 'parked' : fate < 0.09 ? 'nonexistent' : hasFaults && fate < 0.12 ? 'broken' : 'active';
}

/** Sites on a platform with its own network do not use a second one. */
function fitsBehindCdn(hosting: string, templates: Templates): boolean {
  const { also = [] } = templates.hosting.of(hosting);
  return (
    !also.some((each) => each.category === 'cdn') &&
    !['squarespace', 'wix', 'github-pages', 'vercel', 'netlify'].includes(hosting)
  );
}

function drawDns(r: Random, cdn: string | null, templates: Templates): string[] {
  if (r.chance(0.04)) return [];
  const share = cdn === null ? 0 : (templates.cdn.of(cdn).dnsShare ?? 0);
  const first = cdn !== null && r.chance(share) && templates.dns.has(cdn) ? cdn : r.weighted(templates.dns.rows).id;
  const second = r.chance(0.02) ? r.weighted(templates.dns.rows).id : first;
  return [...new Set([first, second])];
}

function drawMailbox(r: Random, templates: Templates): string {
  const fate = r.next();
  if (fate < 0.05) return 'none';
  if (fate < 0.08) return 'null-mx';
  if (fate < 0.15) return 'self';
  if (fate < 0.19) return 'regional';
  return r.weighted(templates.mailbox.rows).id;
}

function drawSite(r: Random, hasFaults: boolean): SiteBehaviour {
  const fate = r.next();
  if (fate < 0.03) return 'redirects';
  if (fate < 0.07) return 'http-only';
  if (!hasFaults) return 'ok';
  if (fate < 0.09) return 'wall';
  if (fate < 0.1) return 'refused';
  if (fate < 0.11) return 'reset';
  return fate < 0.115 ? 'slow' : 'ok';
}

function drawPlatform(r: Random, hosting: string, templates: Templates): string {
  const only = hosting === 'self' ? undefined : templates.hosting.of(hosting).platforms;
  return only ? r.pick(only) : r.weighted(templates.platform.rows.filter((row) => row.weight > 0)).id;
}

function drawAuthority(r: Random, hosting: string, cdn: string | null, templates: Templates): string {
  const issuers = cdn
    ? templates.cdn.of(cdn).issuers
    : hosting === 'self'
      ? undefined
      : templates.hosting.of(hosting).issuers;
  return issuers ? r.pick(issuers) : r.weighted(templates.authority.rows).id;
}

/** Distinct ids; `shares[n]` is the share with n of them. */
function draw<T extends { readonly id: string; readonly weight: number }>(
  r: Random,
  rows: readonly T[],
  shares: readonly number[],
): string[] {
  let fate = r.next();
  let count = 0;
  while (count < shares.length - 1 && fate >= (shares[count] ?? 0)) {
    fate -= shares[count] ?? 0;
    count += 1;
  }
  const ids = new Set<string>();
  for (let tries = 0; ids.size < count && tries < 40; tries += 1) ids.add(r.weighted(rows).id);
  return [...ids];
}
