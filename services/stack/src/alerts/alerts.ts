// Builds alerts: one function per kind, with a title, a detail, and a link to the evidence.
import type { Entry } from '@strata/advisories';
import type { Flow } from '@strata/analytics';
import type { Category, Regression } from '@strata/detect';
import type { KnownNames } from '../index/known-names.ts';
import type { Severity, StoredAlert, StoredAnomaly } from '../store/index.ts';

const REGRESSION: Readonly<
  Record<Regression, { readonly severity: Severity; readonly title: string; readonly detail: string }>
> = {
  dmarc_removed: {
    severity: 'high',
    title: 'DMARC removed',
    detail: 'no longer publishes a DMARC policy: anyone can send mail in its name.',
  },
  dmarc_weakened: {
    severity: 'medium',
    title: 'DMARC weakened',
    detail: 'requests a weaker action than before for messages that fail DMARC.',
  },
  spf_removed: { severity: 'medium', title: 'SPF removed', detail: 'no longer publishes an SPF record.' },
  dnssec_broken: {
    severity: 'high',
    title: 'DNSSEC removed or broken',
    detail: 'was signed, and now has no DS record at its parent, or invalid signatures.',
  },
  certificate_expired: {
    severity: 'high',
    title: 'Certificate expired',
    detail: 'shows a certificate that has expired: browsers reject it.',
  },
};

export function regressionAlert({
  domain,
  regression,
  at,
}: {
  readonly domain: string;
  readonly regression: Regression;
  readonly at: Date;
}): StoredAlert {
  const { severity, title, detail } = REGRESSION[regression];
  return {
    id: `al_security_${regression}_${domain}_${at.getTime()}`,
    at,
    kind: 'security',
    severity,
    subject: `security ${regression} ${domain}`,
    domain,
    provider: null,
    title: `${title}: ${domain}`,
    detail: `${domain} ${detail}`,
    ref: `/stack/v1/domains/${domain}`,
  };
}

export function massMigrationAlert({
  category,
  provider,
  out,
  share,
  days,
  at,
  flows,
  names,
}: {
  readonly category: Category;
  readonly provider: string;
  readonly out: number;
  readonly share: number;
  readonly days: number;
  readonly at: Date;
  readonly flows: readonly Flow[];
  readonly names: KnownNames;
}): StoredAlert {
  const name = names.nameOf(provider);
  const to = flows.filter((flow) => flow.from === provider).slice(0, 3);
  const where = to.map((flow) => `${names.nameOf(flow.to)} (${flow.domains})`).join(', ');
  return {
    id: `al_migration_${category}_${provider}_${at.getTime()}`,
    at,
    kind: 'migration',
    severity: share >= 0.5 ? 'critical' : share >= 0.25 ? 'high' : 'medium',
    subject: `migration ${category} ${provider}`,
    domain: null,
    provider,
    title: `${out} domains left ${name} within ${days} days`,
    detail: `${(share * 100).toFixed(1)} % of the domains that used ${name} for ${category} left it, most often for ${where}.`,
    ref: `/stack/v1/migrations/export.csv?provider=${encodeURIComponent(provider)}&direction=out&category=${category}`,
  };
}

/** A known-exploited vulnerability in a product that domains use: confirmed and possible effects are counted separately. */
export function exploitedAlert({
  entry,
  counts,
  at,
  names,
}: {
  readonly entry: Entry;
  readonly counts: { readonly version: number; readonly product: number };
  readonly at: Date;
  readonly names: KnownNames;
}): StoredAlert {
  const { advisory, exploited, products } = entry;
  const [first = ''] = products;
  const name = products.map((product) => names.nameOf(product)).join(', ');
  const added = exploited ? ` In CISA's catalogue since ${exploited.dateAdded}.` : '';
  return {
    id: `al_advisory_${advisory.id}_${at.getTime()}`,
    at,
    kind: 'advisory',
    severity: counts.version > 0 ? 'critical' : 'high',
    subject: `advisory ${advisory.id}`,
    domain: null,
    provider: first,
    title: `${advisory.id} in ${name} is being exploited`,
    detail: `${affectedText(counts, name)}.${added}`,
    ref: `/stack/v1/enrichment/affected?advisory=${encodeURIComponent(advisory.id)}`,
  };
}

function affectedText({ version, product }: { readonly version: number; readonly product: number }, name: string) {
  const shown = `${version === 0 ? 'No' : version} ${version <= 1 ? 'domain shows' : 'domains show'} an affected version`;
  if (product === 0) return shown;
  const more = version === 0 ? '' : 'more ';
  const used = product === 1 ? 'uses' : 'use';
  const whether = `whether ${product === 1 ? 'it is' : 'they are'} affected is not known`;
  return `${shown}; ${product} ${more}${used} ${name}, ${whether}`;
}

export function anomalyAlert(anomaly: StoredAnomaly, names: KnownNames): StoredAlert {
  const { id, at, subjectKind, subject, metric, severity, facts } = anomaly;
  const name = subjectKind === 'provider' ? names.nameOf(subject) : subject;
  const mean = facts.mean.toFixed(1);
  return {
    id: `al_${id}`,
    at,
    kind: 'anomaly',
    severity,
    subject: `anomaly ${subjectKind} ${subject} ${metric}`,
    domain: subjectKind === 'domain' ? subject : null,
    provider: subjectKind === 'provider' ? subject : null,
    title: `${name}: ${metric} ${facts.direction === 'up' ? 'far above' : 'far below'} the usual`,
    detail: `${facts.value} ${metric}; the average of the ${facts.samples} available days of the ${facts.window_days} before is ${mean} (${facts.sigma.toFixed(1)} sigma).`,
    ref:
      subjectKind === 'domain'
        ? `/stack/v1/anomalies?domain=${encodeURIComponent(subject)}`
        : subjectKind === 'provider'
          ? `/stack/v1/intelligence/adoption/${encodeURIComponent(subject)}`
          : `/stack/v1/intelligence/market-share?category=${encodeURIComponent(subject)}`,
  };
}
