// Lines that several answers have in common.
import type { Change, Flow, OpenAdvisories, Service } from '@strata/client';
import { joined, moment, quoted } from './text.ts';

export function serviceLine({ category, role, provider, confidence, first_seen, version, evidence }: Service): string {
  const seen = evidence.map(({ source, value }) => `${source} ${quoted(value)}`).join(', ');
  const what = category === role ? category : `${category} (${role})`;
  return `- ${what}: ${provider}${version ? ` ${quoted(version)}` : ''}, ${confidence}, since ${moment(first_seen)}${seen && `; ${seen}`}`;
}

export function changeLine({ at, category, role, type, from, to, importance }: Change): string {
  const what = category === role ? category : `${category} (${role})`;
  return `${moment(at)} ${what} ${type}: ${joined([from, to], ' -> ')} (${importance} importance)`;
}

export function flowLine({ category, from, to, domains }: Flow): string {
  return `${category}: ${from} -> ${to}, ${domains}`;
}

export function advisoryCounts(advisories: OpenAdvisories): string[] {
  if (advisories === null) return ['Advisories: none has been read yet, so nothing is known.'];
  const { version, product, known_exploited, top } = advisories;
  if (version + product === 0) return ['No known vulnerability of what was seen.'];
  const worst = top.slice(0, 3).map(({ id, product: what }) => `${id} (${what})`);
  return [
    `Advisories: ${version} of the versions seen (${known_exploited} known to be exploited), ${product} of products whose version is unknown${worst.length > 0 ? `; most urgent ${worst.join(', ')}` : ''}.`,
  ];
}
