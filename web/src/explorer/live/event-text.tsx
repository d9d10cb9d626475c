// An event as a sentence: with links for the page, as plain text for the announcement.
import type { StackEvent } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { formatName, formatNumber } from '../../ui/formats.ts';

type Word =
  | string
  | { readonly kind: 'domain' | 'provider' | 'category' | 'advisory'; readonly id: string; readonly text: string }
  | { readonly kind: 'alerts'; readonly text: string };

/** Above this many advisories of one event the rest are counted. */
const MAX_NAMED = 3;

const ROLES: Readonly<Record<string, string>> = {
  dns: 'DNS',
  mailbox: 'mailboxes',
  gateway: 'mail gateway',
  edge: 'CDN',
  origin: 'hosting',
};

export function EventSentence({ event }: { readonly event: StackEvent }) {
  return wordsOf(event).map((word, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the words of an event never change
    <Fragment key={i}>{typeof word === 'string' ? word : <WordLink word={word} />}</Fragment>
  ));
}

export function eventText(event: StackEvent): string {
  return wordsOf(event)
    .map((word) => (typeof word === 'string' ? word : word.text))
    .join('');
}

function WordLink({ word }: { readonly word: Exclude<Word, string> }) {
  switch (word.kind) {
    case 'domain':
      return (
        <Link to="/domain/$domain" params={{ domain: word.id }} className="live-domain">
          {word.text}
        </Link>
      );
    case 'provider':
      return (
        <Link to="/provider/$provider" params={{ provider: word.id }}>
          {word.text}
        </Link>
      );
    case 'category':
      return (
        <Link to="/market" search={{ category: word.id }}>
          {word.text}
        </Link>
      );
    case 'advisory':
      return (
        <Link to="/advisories" search={{ advisory: word.id }}>
          {word.text}
        </Link>
      );
    case 'alerts':
      return <Link to="/alerts">{word.text}</Link>;
    default:
      return word satisfies never;
  }
}

function wordsOf(event: StackEvent): readonly Word[] {
  switch (event.type) {
    case 'migration':
    case 'service_change':
      return changeWords(event);
    case 'anomaly':
      return anomalyWords(event);
    case 'advisory':
      return advisoryWords(event);
    default:
      return event satisfies never;
  }
}

function changeWords({ domain, change }: StackEvent & { readonly type: 'migration' | 'service_change' }): Word[] {
  const subject: Word = { kind: 'domain', id: domain, text: domain };
  const provider = (id: string | null, name: string | null): Word =>
    id === null ? (name ?? 'an unknown provider') : { kind: 'provider', id, text: name ?? id };
  const from = provider(change.from_id, change.from);
  const to = provider(change.to_id, change.to);
  const category: Word = { kind: 'category', id: change.category, text: formatName(change.category) };
  switch (change.type) {
    case 'migrated':
      return [subject, ` moved its ${ROLES[change.role] ?? change.role} from `, from, ' to ', to];
    case 'added':
      return [subject, ' began to use ', to, ' (', category, ')'];
    case 'removed':
      return [subject, ' no longer uses ', from, ' (', category, ')'];
    case 'reclassified':
      return [subject, ': what was read as ', from, ' is now read as ', to, ' (', category, ')'];
    default:
      return change.type satisfies never;
  }
}

function anomalyWords({ anomaly }: StackEvent & { readonly type: 'anomaly' }): Word[] {
  const { subject, subject_id, subject_kind, metric, value, mean, sigma, direction } = anomaly;
  const usual = formatNumber(Math.round(mean * 10) / 10);
  const size = formatNumber(Math.round(Math.abs(sigma) * 10) / 10);
  return [
    { kind: subject_kind, id: subject_id, text: subject },
    ' has ',
    { kind: 'alerts', text: `unusually ${direction === 'up' ? 'many' : 'few'} ${metric}` },
    `: ${formatNumber(value)} where ${usual} is usual (${size} σ)`,
  ];
}

function advisoryWords({ domain, reason, advisories }: StackEvent & { readonly type: 'advisory' }): Word[] {
  const names = advisories
    .slice(0, MAX_NAMED)
    .flatMap(({ id }, i): Word[] => [...(i === 0 ? [] : [', ']), { kind: 'advisory', id, text: id }]);
  const more = advisories.length - MAX_NAMED;
  if (more > 0) names.push(` and ${formatNumber(more)} more`);
  const products = new Map(advisories.flatMap((entry) => entry.products).map((one) => [one.product_id, one.product]));
  const of = [...products].flatMap(([id, text], i): Word[] => [
    i === 0 ? ' in ' : ', ',
    { kind: 'provider', id, text },
  ]);
  const subject: Word[] = domain === undefined ? [] : [{ kind: 'domain', id: domain, text: domain }];
  const are = advisories.length === 1 ? 'is' : 'are';
  switch (reason) {
    case 'published':
      return [...names, ...of, ` ${are} published`];
    case 'exploited':
      return [...names, ...of, ` ${are} known to be exploited`];
    case 'exposed':
      return [...subject, ' shows versions affected by ', ...names, ...of];
    default:
      return reason satisfies never;
  }
}
