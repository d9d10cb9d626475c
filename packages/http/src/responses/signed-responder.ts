// Answers the routes of a signed API: keys in `X-Stack-Key`, validated input, receipts, and responses cached as bytes.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Callers } from '../access/callers.ts';
import type { HostGuard } from '../access/host-guard.ts';
import type { KeyCheck } from '../access/keys.ts';
import { parseInput } from '../input.ts';
import { countedAddress } from '../limits/counted-address.ts';
import { countedCache } from '../limits/counted-cache.ts';
import { type ErrorCode, Refusal } from '../problems/errors.ts';
import type { ApiKey, KeyUse, RequestContext, Route, StoredFile } from '../route.ts';
import type { Responder } from '../server/add-routes.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import type { SseSubscription } from '../streams/sse.ts';
import { formatFor, type TableFormat } from '../tables/table.ts';
import type { AnswerCache, CachePolicy } from './answer-cache.ts';
import { answerOf, uploadOf } from './make-answer.ts';
import type { Notary } from './notary.ts';
import { commonHeaders, isKnown, sendAtOnce, sendReady, sendUnsigned } from './send-answer.ts';
import { sendFile } from './send-file.ts';

interface SignedResponderDeps<App> {
  readonly app: App;
  readonly notary: Notary;
  readonly answers: AnswerCache;
  readonly keys: KeyCheck;
  readonly callers: Callers;
  readonly streams: EventStreams;
  readonly hostGuard: HostGuard | undefined;
  readonly expandInput: ExpandInput<App> | undefined;
  readonly headersOf: ((policy: CachePolicy) => Readonly<Record<string, string>>) | undefined;
  /** Receives each answered request that has a key; returns at once. */
  readonly noteUse: ((use: KeyUse) => void) | undefined;
}

/** Replaces names in the input that belong to the caller's key; undefined if it has no such name. */
export type ExpandInput<App> = (
  app: App,
  input: Readonly<Record<string, unknown>>,
  context: RequestContext,
) => Promise<Readonly<Record<string, unknown>> | undefined>;

/** Longer URLs are rarely repeated, and would let a client fill the memory. */
const MAX_URL_LENGTH = 512;

export class SignedResponder<App> implements Responder<Route<App>> {
  readonly #deps: SignedResponderDeps<App>;
  /** Cache keys by URL: a key depends on path and query only, so each URL is parsed once. */
  readonly #cacheKeysByUrl = countedCache<string>(50_000);

  constructor(deps: SignedResponderDeps<App>) {
    this.#deps = deps;
  }

  /**
   * The hot path: the URL was answered before, its response is still cached, and the caller's key was cached recently and
   * is not counted. Everything else takes the full path, refusals too.
   */
  sendCached({ contract }: Route<App>, request: FastifyRequest, reply: FastifyReply): number | undefined {
    // Other methods share the URL with GET, and must not get its response.
    if (!contract.cache || request.raw.url === undefined) return undefined;
    const cacheKey = this.#cacheKeysByUrl.get(request.raw.url);
    if (cacheKey === undefined) return undefined;
    const { answers, keys } = this.#deps;
    const isKeyed = contract.access !== 'open';
    const key = isKeyed ? keys.knownUncounted(request.headers['x-stack-key']) : undefined;
    if (isKeyed && !key) return undefined;
    const ready = answers.get(cacheKey);
    if (!ready) return undefined;
    this.#note(key, contract.path, request, 0);
    return sendAtOnce(request, reply, ready);
  }

  async respond(route: Route<App>, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { app, notary, answers, keys, callers, streams, hostGuard, expandInput, headersOf } = this.#deps;
    const { contract } = route;
    // A cross-site POST would act on behalf of the user, and use up the limits of the user's address.
    if (contract.method === 'POST' && contract.access === 'open' && hostGuard?.isCrossSite(request))
      throw new Refusal('foreign_page');
    const identified = contract.access === 'open' ? undefined : callers.identify(request);
    const key = identified instanceof Promise ? await identified : identified;
    const charge = async (requests: number) => {
      const isCounted = key !== undefined && key.dailyLimit !== null;
      if (isCounted) reply.headers(await keys.count(key, requests));
      this.#note(key, contract.path, request, isCounted ? requests : 0);
    };
    const context = Object.assign(contextOf(request, key), {
      charge,
      setHeader: (name: string, value: string) => void reply.header(name, value),
      ...(contract.upload && { upload: uploadOf(request, contract) }),
    });
    const given = parseInput(contract, request);
    const expanded = await expandInput?.(app, given, context);
    const input = expanded ?? given;
    const { output } = contract;
    const isKept = output.kind === 'signed' || output.kind === 'csv';
    const policy = isKept && contract.cache?.(app, input as never, context);
    // A refused stream is not counted.
    if (output.kind === 'events' && request.method !== 'HEAD') streams.refuseFull(context);
    const kept = policy ? answers.get(policy.key) : undefined;
    // A cached response that the client already has is free: whatever process answers, it needs no count to say so.
    const isFree = kept !== undefined && isKnown(request, kept);
    if (!contract.isChargedByHandler) await charge(isFree ? 0 : 1);
    if (isFree) return sendReady(request, reply, kept);
    if (!policy) return this.#send(route, await route.handler(app, input, context), { input, context, request, reply });
    const ready =
      answers.get(policy.key) ??
      (await answers.compute(policy, async (resetReads) => {
        const headers = headersOf?.(policy);
        const data = await route.handler(app, input, Object.assign(context, { resetReads }));
        const answer = await answerOf(output, notary, data);
        return headers ? { ...answer, headers: { ...answer.headers, ...headers } } : answer;
      }));
    const { url } = request.raw;
    // An expanded input is of this key, not of the URL.
    if (url !== undefined && !expanded && url.length <= MAX_URL_LENGTH) this.#cacheKeysByUrl.set(url, policy.key);
    return sendReady(request, reply, ready);
  }

  #note(key: ApiKey | undefined, path: string, request: FastifyRequest, counted: number): void {
    if (!key) return;
    const source = request.headers['sec-fetch-site'] === 'same-origin' ? 'page' : 'api';
    this.#deps.noteUse?.({ keyId: key.id, path, source, counted });
  }

  async #send(
    { contract: { output } }: Route<App>,
    result: unknown,
    {
      input,
      context,
      request,
      reply,
    }: {
      input: Readonly<Record<string, unknown>>;
      context: RequestContext;
      request: FastifyRequest;
      reply: FastifyReply;
    },
  ): Promise<FastifyReply> {
    switch (output.kind) {
      case 'signed':
      case 'csv':
        return sendReady(request, reply, await answerOf(output, this.#deps.notary, result));
      case 'rows': {
        const format = (input.format as TableFormat | undefined) ?? formatFor(request.headers.accept);
        return sendReady(request, reply, await answerOf(output, this.#deps.notary, result, format));
      }
      case 'file':
        return sendFile(request, reply, result as StoredFile);
      case 'json':
      case 'bytes':
        return sendUnsigned(reply.headers({ ...commonHeaders, 'x-request-id': request.id }), output, result);
      case 'events':
        return this.#deps.streams.serve(result as SseSubscription, context, { request, reply });
      default:
        return output satisfies never;
    }
  }
}

/** The context of a request, with its key if the route requires one. */
export function contextOf(request: FastifyRequest, key: ApiKey | undefined): RequestContext {
  return {
    requestId: request.id,
    address: countedAddress(request.ip),
    key,
    get signal() {
      return request.signal;
    },
    resetReads: () => {},
    setHeader: () => {},
    charge: async () => {},
    refuse: (code: ErrorCode, detail, options) => {
      throw new Refusal(code, detail, options);
    },
  };
}
