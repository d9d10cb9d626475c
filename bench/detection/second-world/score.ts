// Claims of detection against what is true of a company of the second world.
import type { Category, Service as Claim, Profile } from '@strata/detect';
import type { Use } from './company.ts';
import { ROLES, type WorldRole } from './service.ts';
import type { VendorMap } from './vendors.ts';
import type { Citizen } from './world.ts';

/** Of one role. Claims are `right`, `wrong`, or about a service that was left (`stale`). */
export interface RoleScore {
  right: number;
  wrong: number;
  stale: number;
  /** Current services that something published shows, and those of them that a claim names. */
  visible: number;
  found: number;
  /** Those that nothing published shows: named by a claim, and all. */
  invisible: number;
  guessed: number;
  /** Services that were left with records. */
  left: number;
}

export interface Judged {
  readonly claim: Claim;
  readonly verdict: 'right' | 'wrong' | 'stale';
  readonly role: WorldRole;
}

export interface Mistake {
  readonly what: string;
  readonly domain: string;
}

export class Score {
  readonly byRole = new Map<WorldRole, RoleScore>();
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
      const { verdict, role } = this.#judge(claim, uses);
      this.#of(role)[verdict] += 1;
      this.judged.push({ claim, verdict, role });
      if (verdict === 'wrong') {
        const { source = '', value = '' } = claim.evidence[0] ?? {};
        this.wrong.push({ what: `${claim.category} ${claim.provider} by ${source}`, domain: `${domain}: ${value}` });
      }
    }
    for (const use of uses) {
      const { role, vendor } = use.service;
      const score = this.#of(role);
      const isFound = profile.services.some((claim) => names(claim, use, this.#vendors, ROLES[role].found));
      if (!use.isCurrent) score.left += 1;
      else if (shown.has(use)) {
        score.visible += 1;
        if (isFound) score.found += 1;
        else
          this.missed.push({
            what: `${role} ${vendor}${this.#vendors.idsOf(vendor).size === 0 ? ' (unknown)' : ''}`,
            domain,
          });
      } else {
        score.invisible += 1;
        if (isFound) score.guessed += 1;
      }
    }
  }

  #judge(claim: Claim, uses: readonly Use[]): Pick<Judged, 'verdict' | 'role'> {
    const fits = (use: Use, exact: boolean) => {
      const { found, right } = ROLES[use.service.role];
      return names(claim, use, this.#vendors, exact ? found : right);
    };
    for (const isCurrent of [true, false])
      for (const exact of [true, false]) {
        const use = uses.find((each) => each.isCurrent === isCurrent && fits(each, exact));
        if (use) return { verdict: isCurrent ? 'right' : 'stale', role: exact ? use.service.role : roleOf(claim) };
      }
    const below = uses.filter(({ service }) =>
      service.also.some((also) => {
        const [vendor = '', category] = also.split('@');
        return category === claim.category && this.#vendors.idsOf(vendor).has(claim.provider);
      }),
    );
    if (below.length === 0) return { verdict: 'wrong', role: roleOf(claim) };
    return { verdict: below.some(({ isCurrent }) => isCurrent) ? 'right' : 'stale', role: roleOf(claim) };
  }

  #of(role: WorldRole): RoleScore {
    const known = this.byRole.get(role);
    if (known) return known;
    const none = { right: 0, wrong: 0, stale: 0, visible: 0, found: 0, invisible: 0, guessed: 0, left: 0 };
    this.byRole.set(role, none);
    return none;
  }
}

const names = (claim: Claim, { service }: Use, vendors: VendorMap, categories: readonly string[]): boolean =>
  categories.includes(claim.category) && vendors.idsOf(service.vendor).has(claim.provider);

/** The role that a claim is counted under if no service of the company has it. */
const ROLE_OF_CATEGORY: Readonly<Record<Category, WorldRole>> = {
  dns: 'dns',
  email: 'mailbox',
  email_security: 'mail-gateway',
  email_sending: 'email-sending',
  hosting: 'web-hosting',
  cdn: 'cdn',
  security: 'waf',
  verified_service: 'verified',
  certificate_authority: 'certificate-authority',
  web_platform: 'cms',
};

const roleOf = ({ category }: Claim): WorldRole => ROLE_OF_CATEGORY[category];
