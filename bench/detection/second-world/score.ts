// Claims of detection against what is true of a company of the second world, by role.
import { type Service as Claim, type Profile, ROLES, type Role } from '@strata/detect';
import type { Use } from './company.ts';
import { entailedRoles, ROLE_OF, type WorldRole } from './service.ts';
import type { VendorMap } from './vendors.ts';
import type { Citizen } from './world.ts';

/** Claims of one role: `right`, `wrong`, or about a service that was left (`stale`). */
export interface ClaimScore {
  right: number;
  wrong: number;
  stale: number;
  /** Those of `right` that no current service has as its own role: entailed by one, or of what it is built on. */
  entailed: number;
}

/** Services of one role. */
export interface ServiceScore {
  /** Current services that something published shows, and those of them that a claim of their role names. */
  visible: number;
  found: number;
  /** Those that nothing published shows: named by a claim, and all. */
  invisible: number;
  guessed: number;
  /** Services that were left with records. */
  left: number;
}

type Verdict = Exclude<keyof ClaimScore, 'entailed'>;

export interface Judged {
  readonly domain: string;
  readonly claim: Claim;
  readonly verdict: Verdict;
}

export interface Mistake {
  readonly what: string;
  readonly domain: string;
}

export class Score {
  readonly claims = new Map<Role, ClaimScore>();
  readonly services = new Map<WorldRole, ServiceScore>();
  readonly judged: Judged[] = [];
  readonly wrong: Mistake[] = [];
  readonly missed: Mistake[] = [];
  readonly states: Mistake[] = [];
  readonly #vendors: VendorMap;

  constructor(vendors: VendorMap) {
    this.#vendors = vendors;
  }

  add(company: Citizen, profile: Profile): void {
    const { domain, uses, shown } = company;
    // A broken zone shows nothing reliable.
    if (company.state === 'broken') return;
    const isState = { active: 'active', parked: 'parked', dead: 'nonexistent' }[company.state] === profile.state;
    if (!isState) this.states.push({ what: `${company.state} as ${profile.state}`, domain });
    for (const claim of profile.services) {
      const verdict = this.#judge(claim, uses);
      const counts = countsOf(this.claims, claim.role, { right: 0, wrong: 0, stale: 0, entailed: 0 });
      counts[verdict] += 1;
      if (verdict === 'right' && !uses.some((use) => use.isCurrent && this.#isOwn(claim, use))) counts.entailed += 1;
      this.judged.push({ domain, claim, verdict });
      if (verdict === 'wrong') {
        const { source = '', value = '' } = claim.evidence[0] ?? {};
        const isUsed = uses.some(({ service }) => this.#names(claim, service.vendor));
        const what = `${claim.role} ${claim.provider} by ${source}${isUsed ? ' (another role)' : ''}`;
        this.wrong.push({ what, domain: `${domain}: ${value}` });
      }
    }
    for (const use of uses) this.#addUse(use, profile, { domain, isShown: shown.has(use) });
  }

  #addUse(
    { service: { role, vendor }, isCurrent }: Use,
    { services: claims }: Profile,
    { domain, isShown }: { readonly domain: string; readonly isShown: boolean },
  ): void {
    const none = { visible: 0, found: 0, invisible: 0, guessed: 0, left: 0 };
    const score = countsOf(this.services, role, none);
    const named = claims.filter((claim) => this.#names(claim, vendor));
    const isFound = named.some((claim) => claim.role === ROLE_OF[role]);
    if (!isCurrent) score.left += 1;
    else if (isShown) {
      score.visible += 1;
      if (isFound) score.found += 1;
      else {
        const isUnknown = this.#vendors.idsOf(vendor).size === 0;
        const why = isUnknown ? ' (unknown)' : named.length > 0 ? ` (as ${named.map((each) => each.role).join()})` : '';
        this.missed.push({ what: `${role} ${vendor}${why}`, domain });
      }
    } else {
      score.invisible += 1;
      if (isFound) score.guessed += 1;
    }
  }

  #judge(claim: Claim, uses: readonly Use[]): Verdict {
    const matching = uses.filter((use) => this.#isOwn(claim, use) || this.#isEntailed(claim, use));
    if (matching.length === 0) return 'wrong';
    return matching.some(({ isCurrent }) => isCurrent) ? 'right' : 'stale';
  }

  #isOwn(claim: Claim, { service }: Use): boolean {
    return claim.role === ROLE_OF[service.role] && this.#names(claim, service.vendor);
  }

  #isEntailed(claim: Claim, { service }: Use): boolean {
    if (entailedRoles(service).has(claim.role) && this.#names(claim, service.vendor)) return true;
    return service.also.some((also) => {
      const [vendor = '', category] = also.split('@');
      return category === claim.category && claim.role === ROLE_BELOW[claim.category] && this.#names(claim, vendor);
    });
  }

  #names({ provider }: Claim, vendor: string): boolean {
    return this.#vendors.idsOf(vendor).has(provider);
  }
}

/** The role of an `also`: the mail service below WorkMail receives for it, and does not filter. */
const ROLE_BELOW = { ...ROLES, email_security: 'forwarding' } as const;

function countsOf<K, V>(counts: Map<K, V>, key: K, none: V): V {
  const known = counts.get(key);
  if (known) return known;
  counts.set(key, none);
  return none;
}
