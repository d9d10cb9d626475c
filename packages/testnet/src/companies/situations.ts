// What makes real stacks hard to detect: split mail, leftovers, hidden origins, odd zones. Drawn separately from the
// rest of a plan.

import { forgedServers } from '../providers/extras.ts';
import type { Templates } from '../providers/index.ts';
import { widgets } from '../providers/sites.ts';
import type { Random } from '../random.ts';

/**
 * How MX records differ from the mailbox's usual ones. `split`: a second mailbox at equal preference; `backup`: one
 * with a lower priority; `bypass`: the mailbox's own exchange behind the gateway; `residue`: a verification record that
 * never received mail; `implicit`: none, mail goes to the domain's address (RFC 5321 section 5.1); `rented`: the host
 * name of a rented server; `vanity`: a name of the company's own, at the mailbox provider's address.
 */
type ExchangeForm = 'usual' | 'split' | 'backup' | 'bypass' | 'residue' | 'implicit' | 'rented' | 'vanity';
/** How the SPF policy is written. `reseller`: includes a reseller, whose record includes many services. */
type PolicyForm = 'usual' | 'nested' | 'redirected' | 'reseller' | 'flattened' | 'hosted' | 'several' | 'too-many';
/**
 * `vanity`: under the company's name; `silent`: the same with a neutral SOA; `white-label`: under a reseller's name.
 */
type NameServerForm = 'usual' | 'vanity' | 'silent' | 'white-label';
/** What the zone answers for undefined names. */
type WildcardForm = 'none' | 'address' | 'alias' | 'text' | 'exchange' | 'selector';
/** How a name for sale is marked. */
type ParkingForm = 'name-servers' | 'page' | 'redirect';
/** How the origin's address behind a CDN is exposed. */
type OriginLeak = 'none' | 'mail' | 'label' | 'policy';

export interface Situation {
  readonly exchange: ExchangeForm;
  readonly secondMailbox: string | null;
  /** A former mailbox, some of whose records remain in the zone. */
  readonly formerMailbox: string | null;
  readonly leftovers: readonly ('token' | 'selectors' | 'autodiscover')[];
  readonly policy: PolicyForm;
  /** A former sender; its DKIM alias remains and resolves to nothing. */
  readonly formerSender: string | null;
  /** One of several DKIM aliases has no key yet. */
  readonly hasKeylessSelector: boolean;
  readonly secondReports: string | null;
  /** `_dmarc` is an alias of the report processor's record. */
  readonly hasDmarcAlias: boolean;
  readonly hasHugeTxt: boolean;
  readonly nameServers: NameServerForm;
  /** The provider that the parent zone still delegates to. */
  readonly formerDns: string | null;
  readonly wildcard: WildcardForm;
  readonly parking: ParkingForm;
  readonly leak: OriginLeak;
  readonly hasSharedCertificate: boolean;
  readonly forgedServer: string | null;
  /** Ids of the services that the page loads. */
  readonly widgets: readonly string[];
  /** The page embeds an image from another company's WordPress. */
  readonly hasForeignAsset: boolean;
  /** A CAA record permits an authority that the company does not use. */
  readonly spareAuthority: string | null;
  /** The apex only redirects to `www`, from a registrar's server. */
  readonly isApexForwarded: boolean;
  /** `www` is an alias of a name that no longer exists. */
  readonly isDangling: boolean;
  readonly isIpv6Only: boolean;
  /** The registrar's "coming soon" page is served instead of a site. */
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

/** Shares of all active companies that meet the requirements of the situation. */
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

/** Percentage of each form; the remainder is `usual`. */
function shares<Form extends string>(percent: Partial<Record<Form, number>>, usual: Form) {
  const rows = Object.entries<number | undefined>(percent).map(([form, weight = 0]) => ({
    form: form as Form,
    weight,
  }));
  return [...rows, { form: usual, weight: 100 - rows.reduce((sum, { weight }) => sum + weight, 0) }];
}
