// Lines that are part of several answers.
import type { Change, Flow, OpenAdvisories, Service } from '@strata/client';
import { joined, moment, quoted } from './text.ts';

export function serviceLine({ category, role, provider, confidence, first_seen, version, evidence }: Service): string {
  const sources = evidence.map(({ source, value }) => `${source} ${quoted(value)}`).join(', ');
  const what = category === role ? category : `${category} (${role})`;
  return `- ${what}: ${provider}${version ? ` ${quoted(version)}` : ''}, ${confidence} confidence, since ${moment(first_seen)}${sources && `; ${sources}`}`;
}

export function changeLine({ at, category, role, type, from, to, importance }: Change): string {
  const what = category === role ? category : `${category} (${role})`;
  return `${moment(at)} ${what} ${type}: ${joined([from, to], ' -> ')} (${importance} importance)`;
}

export function flowLine({ category, from, to, domains }: Flow): string {
  return `${category}: ${from} -> ${to}, ${domains}`;
}

export function advisoryCounts(advisories: OpenAdvisories): string[] {
  if (advisories === null) return ['Advisories: not synced yet, so vulnerabilities are unknown.'];
  const { version, product, known_exploited, top } = advisories;
  if (version + product === 0) return ['No known vulnerabilities in the detected products.'];
  const worst = top.slice(0, 3).map(({ id, product: what }) => `${id} (${what})`);
  return [
    `Advisories: ${version} by detected version (${known_exploited} known to be exploited), ${product} by product with an unknown version${worst.length > 0 ? `; most urgent ${worst.join(', ')}` : ''}.`,
  ];
}
