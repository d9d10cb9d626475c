// HTTP responses of a feed's address: validators, redirects, absences and failures.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { absenceOn, type FeedBehaviour } from './behaviours.ts';
import type { FeedDocument } from './formats/documents.ts';
import { answerBomb, answerEndlessly, answerInPart, answerPage, answerSlowly } from './misbehave.ts';
import type { FeedPlan } from './plan.ts';

/** The current content, and the number of earlier requests. */
interface FeedEdition {
  readonly plan: FeedPlan;
  /** The requested address is the one that the feed moved to. */
  readonly isMoved: boolean;
  readonly day: number;
  readonly now: Date;
  readonly etag: string;
  readonly changedAt: number;
  /** Earlier requests to this address. */
  readonly asked: number;
  /** Generated on demand. */
  document(): FeedDocument;
}

/** In seconds; sent alternately as a number and as a date. */
const RETRY_AFTER = 3_600;

type Answer = (edition: FeedEdition, request: IncomingMessage, response: ServerResponse) => void;

export const answerFeed: Answer = (edition, request, response) => {
  const { plan, day } = edition;
  const absence = absenceOn(plan.behaviour, day);
  if (absence !== null) return answerPage(response, absence);
  if (plan.movedTo !== null && !edition.isMoved) {
    const status = plan.behaviour === 'moved-permanently' ? 301 : 302;
    return void response.writeHead(status, { location: plan.movedTo }).end();
  }
  // A response without a body cannot misbehave, and a reader's reading speed does not matter.
  const misbehave = request.method === 'GET' ? MISBEHAVIOURS[plan.behaviour] : undefined;
  return (misbehave ?? answerDocument)(edition, request, response);
};

const MISBEHAVIOURS: Partial<Record<FeedBehaviour, Answer>> = {
  'server-errors': (edition, request, response) =>
    edition.asked % 3 === 1 ? answerPage(response, 500) : answerDocument(edition, request, response),
  'too-many-requests': (edition, request, response) =>
    edition.asked % 2 === 1 ? answerTooMany(edition, response) : answerDocument(edition, request, response),
  'html-page': (_edition, _request, response) => answerPage(response, 200),
  truncated: (edition, _request, response) => answerInPart(edition.document(), response),
  slow: (edition, _request, response) => answerSlowly(edition.document(), response),
  endless: (_edition, _request, response) => answerEndlessly(response),
  'entity-bomb': (_edition, _request, response) => answerBomb(response),
};

function answerTooMany({ now, asked }: FeedEdition, response: ServerResponse): void {
  const until = new Date(now.getTime() + RETRY_AFTER * 1_000);
  response.writeHead(429, { 'retry-after': asked % 4 === 1 ? String(RETRY_AFTER) : until.toUTCString() }).end();
}

function answerDocument(edition: FeedEdition, request: IncomingMessage, response: ServerResponse): void {
  const { plan } = edition;
  const headers = headersOf(edition);
  if (isUnchanged(headers, request)) return void response.writeHead(304, headers).end();
  const { contentType, body } = edition.document();
  const isCompressed = plan.isCompressed && /\bgzip\b/.test(String(request.headers['accept-encoding']));
  const sent = isCompressed ? gzipSync(body) : body;
  response
    .writeHead(200, {
      ...headers,
      'content-type': contentType,
      'content-length': sent.length,
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    })
    .end(sent);
}

function headersOf({ plan, etag, changedAt }: FeedEdition): OutgoingHttpHeaders {
  const { behaviour } = plan;
  const hasEtag = behaviour !== 'no-validators' && behaviour !== 'last-modified';
  const hasLastModified = behaviour !== 'no-validators' && behaviour !== 'etag';
  return {
    ...(hasEtag ? { etag } : {}),
    ...(hasLastModified ? { 'last-modified': new Date(changedAt).toUTCString() } : {}),
    ...(behaviour === 'max-age' ? { 'cache-control': 'public, max-age=7200' } : {}),
    ...(plan.isCompressed ? { vary: 'accept-encoding' } : {}),
  };
}

/** RFC 9110 section 13.2.2: entity tags take precedence over dates. */
function isUnchanged(headers: OutgoingHttpHeaders, request: IncomingMessage): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = request.headers;
  const bare = (tag: unknown) => String(tag).trim().replace(/^W\//, '');
  if (tags !== undefined && headers.etag !== undefined) {
    return tags.split(',').some((tag) => bare(tag) === bare(headers.etag) || tag.trim() === '*');
  }
  const lastModified = headers['last-modified'];
  if (since === undefined || lastModified === undefined) return false;
  return Date.parse(String(lastModified)) <= Date.parse(since);
}
