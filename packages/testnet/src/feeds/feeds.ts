// The feeds of an internet: listing, responses, request counts and ground truth.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { companyNames } from '../companies/names.ts';
import type { Plan } from '../companies/plan-type.ts';
import { hashOf } from '../random.ts';
import type { World } from '../world.ts';
import { answerFeed } from './answer.ts';
import { type FeedBehaviour, isReadableOn } from './behaviours.ts';
import { createCalendar } from './calendar.ts';
import { documentOf } from './formats/documents.ts';
import { type FeedItem, type FeedWorld, itemsOf, versionOf } from './items.ts';
import { createMentions } from './mentions.ts';
import type { FeedFormat, FeedPlan } from './plan.ts';
import { addedPublishers, type PublishersOptions, planFeeds, publisherPlan } from './publishers.ts';

export interface ListedFeed {
  readonly url: string;
  /** Domain of its site. */
  readonly publisher: string;
  readonly behaviour: FeedBehaviour;
  readonly format: FeedFormat;
}

/** What a reader should find in the feed's current content; empty if the feed is absent or not completely readable. */
export interface FeedTruth {
  /** Newest first. */
  readonly items: readonly TrueItem[];
}

/** A mention is a registrable domain; neither the feed's own nor a shortener's, redirector's or sharing service's. */
export interface TrueItem extends Pick<FeedItem, 'id' | 'publishedAt' | 'link' | 'content' | 'wrapped'> {}

export interface Feeds {
  list(): readonly ListedFeed[];
  /** Throws RangeError if there is no feed at the address. */
  truth(url: string): FeedTruth;
  /** A publisher that is not one of the companies. */
  planOf(domain: string): Plan | undefined;
  /** Answers a request for a feed; returns whether it was one. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
}

interface FeedsOptions extends PublishersOptions {
  /** Companies that can be mentioned. */
  readonly isActive: (domain: string) => boolean;
  readonly world: World;
  readonly now: () => Date;
  readonly today: () => number;
}

interface Address {
  readonly plan: FeedPlan;
  readonly isMoved: boolean;
  requests: number;
}

const OUTSIDERS = 60;

export function createFeeds(options: FeedsOptions): Feeds {
  const { seed, now, companies, isTaken } = options;
  const calendar = createCalendar(options);
  const added = addedPublishers(options);
  const publishers = new Map(added.map((domain) => [domain, publisherPlan(domain, options.world)]));
  const isKnown = (domain: string) => isTaken(domain) || publishers.has(domain);
  // Examines thousands of companies: only on the first request.
  const grown = once(() => {
    const plans = planFeeds(options, added);
    const world: FeedWorld = {
      seed,
      calendar,
      drawMention: createMentions({
        seed,
        companies: companies.filter(options.isActive),
        outsiders: companyNames(`${seed}/outsiders`, OUTSIDERS, isKnown),
      }),
    };
    return { plans, world, addresses: addressesOf(plans) };
  });
  const known = (url: string): Address => {
    const address = grown().addresses.get(keyOf(url));
    if (!address) throw new RangeError(`'${url}' is not one of the feeds`);
    return address;
  };

  return {
    list: () => grown().plans.map(({ url, publisher, behaviour, format }) => ({ url, publisher, behaviour, format })),
    truth(url) {
      const { plan } = known(url);
      const isReadable = isReadableOn(plan.behaviour, calendar.today());
      return { items: isReadable ? itemsOf(plan, grown().world).map(trueItem) : [] };
    },
    planOf: (domain) => publishers.get(domain),
    answer(request, response) {
      const address = grown().addresses.get(keyOf(`http://${request.headers.host ?? ''}${request.url ?? ''}`));
      if (!address) return false;
      const { plan, isMoved, requests: asked } = address;
      address.requests += 1;
      const { world } = grown();
      const { version, changedAt } = versionOf(plan, world);
      const etag = `"${hashOf(seed, plan.url, version).toString(16)}"`;
      const document = () => documentOf(plan, itemsOf(plan, world));
      answerFeed(
        { plan, isMoved, day: calendar.today(), now: now(), etag, changedAt, asked, document },
        request,
        response,
      );
      return true;
    },
  };
}

const trueItem = ({ id, publishedAt, link, content, wrapped }: FeedItem): TrueItem => ({
  id,
  publishedAt,
  link,
  content,
  wrapped,
});

function addressesOf(plans: readonly FeedPlan[]): Map<string, Address> {
  const at = (plan: FeedPlan, isMoved: boolean): Address => ({ plan, isMoved, requests: 0 });
  const addresses = new Map<string, Address>();
  for (const plan of plans) {
    addresses.set(keyOf(plan.url), at(plan, false));
    if (plan.movedTo) addresses.set(keyOf(plan.movedTo), at(plan, true));
  }
  return addresses;
}

/** Host and path: HTTP and HTTPS, on any port, serve the same feed. */
function keyOf(url: string): string {
  const [, host = '', rest = '/'] = /^https?:\/\/([^/:]*)(?::\d+)?(\/.*)?$/i.exec(url) ?? [];
  return `${host.toLowerCase()}${rest}`;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
