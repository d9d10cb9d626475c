// What makes real stacks hard to read: split mail, leftovers, hidden origins, odd zones. Drawn apart from the rest of a plan.

import type { Templates } from '../providers/index.ts';
import { forgedServers, widgets } from '../providers/sites/extras.ts';
import type { Random } from '../random.ts';

/**
 * How exchanges differ from the mailbox's usual ones. `split`: a second mailbox at equal preference; `backup`: one behind;
 * `bypass`: the mailbox's own exchange stays behind the gateway; `residue`: a verification record that never received mail;
 * `implicit`: none, mail goes to the domain's address (RFC 5321 section 5.1); `rented`: a rented server's own name;
 * `vanity`: a name of the company's own, at the mailbox provider's address.
 */
export type ExchangeForm = 'usual' | 'split' | 'backup' | 'bypass' | 'residue' | 'implicit' | 'rented' | 'vanity';
/** How the SPF policy is written. `reseller`: by an include of a reseller, whose record includes many services. */
export type PolicyForm =
  | 'usual'
  | 'nested'
  | 'redirected'
  | 'reseller'
  | 'flattened'
  | 'hosted'
  | 'several'
  | 'too-many';
/** `vanity`: under the company's name; `silent`: that, with an SOA of its own too; `white-label`: under a reseller's name. */
export type NameServerForm = 'usual' | 'vanity' | 'silent' | 'white-label';
/** What the zone answers for names that were never set. */
export type WildcardForm = 'none' | 'address' | 'alias' | 'text' | 'exchange' | 'selector';
/** How a name for sale shows that it is. */
export type ParkingForm = 'name-servers' | 'page' | 'redirect';
/** Where the address behind a CDN can be read all the same. */
export type OriginLeak = 'none' | 'mail' | 'label' | 'policy';

export interface Situation {
  readonly exchange: ExchangeForm;
  readonly secondMailbox: string | null;
  /** A mailbox that was given up; what of it still stands in the zone. */
  readonly formerMailbox: string | null;
  readonly leftovers: readonly ('token' | 'selectors' | 'autodiscover')[];
  readonly policy: PolicyForm;
  /** Sent once; its DKIM alias stands and leads nowhere. */
  readonly formerSender: string | null;
  /** One of several DKIM aliases has no key behind it yet. */
  readonly hasKeylessSelector: boolean;
  readonly secondReports: string | null;
  /** `_dmarc` is an alias of the report processor's record. */
  readonly hasDmarcAlias: boolean;
  readonly hasHugeTxt: boolean;
  readonly nameServers: NameServerForm;
  /** What the parent zone still delegates to. */
  readonly formerDns: string | null;
  readonly wildcard: WildcardForm;
  readonly parking: ParkingForm;
  readonly leak: OriginLeak;
  readonly hasSharedCertificate: boolean;
  readonly forgedServer: string | null;
  /** Services loaded by the page, by id. */
  readonly widgets: readonly string[];
  /** The page shows a picture from another company's WordPress. */
  readonly hasForeignAsset: boolean;
  /** A CAA record permits an authority that the company does not use. */
  readonly spareAuthority: string | null;
  /** The apex only sends visitors on to `www`, from a registrar's machine. */
  readonly isApexForwarded: boolean;
  /** `www` is an alias of a name that is gone. */
  readonly isDangling: boolean;
  readonly isIpv6Only: boolean;
  /** The registrar's "coming soon" stands where the site would be. */
  readonly isHolding: boolean;
}

/** A stack without surprises. */
export const CALM: Situation = {
  exchange: 'usual',
  secondMailbox: null,
  formerMailbox: null,
  leftovers: [],
  policy: 'usual',
  formerSender: null,
  hasKeylessSelector: false,
  secondReports: null,
  hasDmarcAlias: false,
  hasHugeTxt: false,
  nameServers: 'usual',
  formerDns: null,
  wildcard: 'none',
  parking: 'name-servers',
  leak: 'none',
  hasSharedCertificate: false,
  forgedServer: null,
  widgets: [],
  hasForeignAsset: false,
  spareAuthority: null,
  isApexForwarded: false,
  isDangling: false,
  isIpv6Only: false,
  isHolding: false,
};

/** Shares are of all active companies, where what the situation needs is there. */
const EXCHANGES = shares<ExchangeForm>(
  { split: 1, backup: 2, bypass: 4, residue: 1.5, implicit: 8, rented: 14, vanity: 1 },
  'usual',
);
const POLICIES = shares<PolicyForm>(
  { nested: 3, redirected: 1.5, reseller: 1.5, flattened: 2.5, hosted: 2, several: 1.5, 'too-many': 1.5 },
  'usual',
);
const NAME_SERVERS = shares<NameServerForm>({ vanity: 2, silent: 1, 'white-label': 1 }, 'usual');
const WILDCARDS = shares<WildcardForm>({ address: 3, alias: 0.8, text: 0.5, exchange: 0.3, selector: 0.7 }, 'none');
const LEAKS = shares<OriginLeak>({ mail: 8, label: 10, policy: 4 }, 'none');
const PARKINGS = shares<ParkingForm>({ page: 15, redirect: 10 }, 'name-servers');

export function situationOf(r: Random, templates: Templates): Situation {
  const leftovers = (['token', 'selectors', 'autodiscover'] as const).filter((_, i) =>
    r.chance([0.05, 0.01, 0.015][i] ?? 0),
  );
  return {
    exchange: r.weighted(EXCHANGES).form,
    secondMailbox: r.weighted(templates.mailbox.rows).id,
    formerMailbox: r.weighted(templates.mailbox.rows).id,
    leftovers,
    policy: r.weighted(POLICIES).form,
    formerSender: r.chance(0.015) ? r.weighted(templates.sender.rows).id : null,
    hasKeylessSelector: r.chance(0.1),
    secondReports: r.chance(0.12) ? r.weighted(templates.reports.rows).id : null,
    hasDmarcAlias: r.chance(0.06),
    hasHugeTxt: r.chance(0.005),
    nameServers: r.weighted(NAME_SERVERS).form,
    formerDns: r.chance(0.015) ? r.weighted(templates.dns.rows).id : null,
    wildcard: r.weighted(WILDCARDS).form,
    parking: r.weighted(PARKINGS).form,
    leak: r.weighted(LEAKS).form,
    hasSharedCertificate: r.chance(0.04),
    forgedServer: r.chance(0.005) ? r.pick(forgedServers) : null,
    widgets: [...new Set(Array.from({ length: r.between(0, 5) }, () => r.weighted(widgets).id))],
    hasForeignAsset: r.chance(0.015),
    spareAuthority: r.chance(0.3) ? r.weighted(templates.authority.rows).id : null,
    isApexForwarded: r.chance(0.08),
    isDangling: r.chance(0.01),
    isIpv6Only: r.chance(0.006),
    isHolding: r.chance(0.02),
  };
}

/** Per cent of each form; the rest is `usual`. */
function shares<Form extends string>(percent: Partial<Record<Form, number>>, usual: Form) {
  const rows = Object.entries<number | undefined>(percent).map(([form, weight = 0]) => ({
    form: form as Form,
    weight,
  }));
  return [...rows, { form: usual, weight: 100 - rows.reduce((sum, { weight }) => sum + weight, 0) }];
}
