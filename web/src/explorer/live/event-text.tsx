// An event as a sentence: with links for the page, as plain text for screen reader announcements.
import type { StackEvent } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { formatDecimal, formatName, formatNumber } from '../../ui/formats.ts';
import { AdvisoryLink, CategoryLink, DomainLink, ProviderLink } from '../links/links.tsx';

type TextPart =
  | string
  | {
      readonly kind: 'domain' | 'provider' | 'category' | 'advisory' | 'alerts';
      readonly id: string;
      readonly text: string;
    };

/** Number of advisories of an event that are named; the rest are counted. */
const MAX_NAMED = 3;

const ROLES: Readonly<Record<string, string>> = {
  dns: 'DNS',
  mailbox: 'mailboxes',
  gateway: 'mail gateway',
  edge: 'CDN',
  origin: 'hosting',
};

export function EventSentence({ event }: { readonly event: StackEvent }) {
  return partsOf(event).map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an event never change
    <Fragment key={i}>{typeof part === 'string' ? part : <PartLink part={part} />}</Fragment>
  ));
}

export function eventText(event: StackEvent): string {
  return partsOf(event)
    .map((part) => (typeof part === 'string' ? part : part.text))
    .join('');
}

function PartLink({ part: { kind, id, text } }: { readonly part: Exclude<TextPart, string> }) {
  switch (kind) {
    case 'domain':
      return <DomainLink domain={id} className="strong" />;
    case 'provider':
      return <ProviderLink id={id} name={text} />;
    case 'category':
      return <CategoryLink category={id} />;
    case 'advisory':
      return <AdvisoryLink id={id} />;
    case 'alerts':
      return <Link to="/alerts">{text}</Link>;
    default:
      return kind satisfies never;
  }
}

function partsOf(event: StackEvent): readonly TextPart[] {
  switch (event.type) {
    case 'migration':
    case 'service_change':
      return changeParts(event);
    case 'anomaly':
      return anomalyParts(event);
    case 'advisory':
      return advisoryParts(event);
    default:
      return event satisfies never;
  }
}

function changeParts({ domain, change }: StackEvent & { readonly type: 'migration' | 'service_change' }): TextPart[] {
  const subject: TextPart = { kind: 'domain', id: domain, text: domain };
  const provider = (id: string | null, name: string | null): TextPart =>
    id === null ? (name ?? 'an unknown provider') : { kind: 'provider', id, text: name ?? id };
  const from = provider(change.from_id, change.from);
  const to = provider(change.to_id, change.to);
  const category: TextPart = { kind: 'category', id: change.category, text: formatName(change.category) };
  switch (change.type) {
    case 'migrated':
      return [subject, ` migrated its ${ROLES[change.role] ?? change.role} from `, from, ' to ', to];
    case 'added':
      return [subject, ' started using ', to, ' (', category, ')'];
    case 'removed':
      return [subject, ' stopped using ', from, ' (', category, ')'];
    case 'reclassified':
      return [subject, ': ', from, ' was reclassified as ', to, ' (', category, ')'];
    default:
      return change.type satisfies never;
  }
}

function anomalyParts({ anomaly }: StackEvent & { readonly type: 'anomaly' }): TextPart[] {
  const { subject, subject_id, subject_kind, metric, value, mean, sigma, direction } = anomaly;
  return [
    { kind: subject_kind, id: subject_id, text: subject },
    ' has ',
    { kind: 'alerts', id: '', text: `unusually ${direction === 'up' ? 'many' : 'few'} ${metric}` },
    `: ${formatNumber(value)}, usually ${formatDecimal(mean)} (${formatDecimal(Math.abs(sigma))} σ)`,
  ];
}

function advisoryParts({ domain, reason, advisories }: StackEvent & { readonly type: 'advisory' }): TextPart[] {
  const names = advisories
    .slice(0, MAX_NAMED)
    .flatMap(({ id }, i): TextPart[] => [...(i === 0 ? [] : [', ']), { kind: 'advisory', id, text: id }]);
  const more = advisories.length - MAX_NAMED;
  if (more > 0) names.push(` and ${formatNumber(more)} more`);
  const products = new Map(advisories.flatMap((entry) => entry.products).map((one) => [one.product_id, one.product]));
  const of = [...products].flatMap(([id, text], i): TextPart[] => [
    i === 0 ? ' in ' : ', ',
    { kind: 'provider', id, text },
  ]);
  const subject: TextPart[] = domain === undefined ? [] : [{ kind: 'domain', id: domain, text: domain }];
  const verb = advisories.length === 1 ? 'was' : 'were';
  switch (reason) {
    case 'published':
      return [...names, ...of, ` ${verb} published`];
    case 'exploited':
      return [...names, ...of, ` ${verb} added to the known exploited vulnerabilities`];
    case 'exposed':
      return [...subject, ' runs versions affected by ', ...names, ...of];
    default:
      return reason satisfies never;
  }
}
