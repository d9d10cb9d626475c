// A route of the gateway: contract and handler together. The server and the OpenAPI document read the same value.
import type { Endpoint, HostGuard, Parsed, Readiness } from '@strata/http';
import type { requestSchemas } from '@strata/inference';
import type { RateLimiter } from '@strata/limits';
import type { SignedLedger } from '@strata/log';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { AnswerDeps } from '../answers/answer-run.ts';
import type { Models, ServedModel } from '../answers/models.ts';
import type { StoredAnswers } from '../answers/stored/stored-answers.ts';
import type { Limits } from '../limits/limits.ts';
import type { GatewayStore } from '../store/index.ts';
import type { AdminBody, adminAnswers } from './admin/schemas.ts';
import type { RecentItems } from './v1/recent-items.ts';
import type { AnswerName } from './v1/schemas.ts';

type DescribedName = AnswerName | keyof typeof adminAnswers;

/** What the handlers need. */
export interface GatewayApp extends Omit<AnswerDeps, 'admission'> {
  readonly limits: Limits;
  readonly recentItems: RecentItems;
  readonly storedAnswers: StoredAnswers;
  readonly models: Models;
  /** The models of the settings. Models of the network come and go; the gateway is healthy without them. */
  readonly ownModels: readonly ServedModel[];
  /** As JSON; undefined if the gateway is not connected to a network. */
  readonly networkReport: (() => string) | undefined;
  readonly openApi: () => object;
  readonly ledger: SignedLedger;
  readonly keys: Pick<GatewayStore['keys'], 'issue'>;
  readonly admin: Pick<GatewayStore, 'keys' | 'teams' | 'audit' | 'usage'> & {
    /** Applies changes of keys, teams and prices here; other gateways follow within a second. */
    readonly applyChanges: () => Promise<void>;
  };
  /** Limits requests for free keys. */
  readonly keyRequests: RateLimiter;
  /** Keys that one address can get per UTC day; 0 disables free keys. */
  readonly freeKeysPerDay: number;
  readonly hostGuard: Pick<HostGuard, 'isCrossSite'>;
  readonly readiness: Readiness;
  readonly logger: Logger;
}

/** With access by `key`, a POST counts in its limits and needs a ledger that can sign. */
export interface RouteContract<
  P extends z.ZodObject | undefined,
  B,
  Q extends z.ZodObject | undefined = z.ZodObject | undefined,
> extends Endpoint {
  /** Before the body of an open route is read. */
  readonly admit?: (app: GatewayApp, request: FastifyRequest) => void;
  readonly params?: P;
  readonly query?: Q;
  /** Needs an admin key, which no other route accepts. */
  readonly isAdmin?: boolean;
  /** The name of the schema in `bodies` in the document. */
  readonly bodySchema?: AdminBody;
  /** Of a GET whose response may take long: limited as streams are, but not counted as a request. */
  readonly isLong?: boolean;
  /** The function that validates the body, and the name of its schema in the document. */
  readonly body?: { readonly schema: keyof typeof requestSchemas; readonly read: (body: unknown) => B };
  /** Undefined: the route is not in the document. */
  readonly described?: {
    readonly summary: string;
    readonly description?: string;
    readonly answer: DescribedName | 'Csv' | { readonly listOf: DescribedName };
    /** The status of a successful response; 200 by default. */
    readonly status?: number;
    /** The description of a streamed response. */
    readonly stream?: string;
  };
}

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A route of any shape. */
export interface Route {
  readonly contract: RouteContract<z.ZodObject | undefined, unknown>;
  /** Returns the body of the response, or the reply if it has sent it. */
  readonly handler: (app: GatewayApp, input: Record<string, unknown>, exchange: Exchange) => unknown;
}

/** Combines a contract and its handler, which gets the validated parameters and body. */
export function route<
  P extends z.ZodObject | undefined = undefined,
  B = undefined,
  Q extends z.ZodObject | undefined = undefined,
>(
  contract: RouteContract<P, B, Q>,
  handler: (app: GatewayApp, input: Parsed<P> & Parsed<Q> & { readonly body: B }, exchange: Exchange) => unknown,
): Route {
  // The types above relate input and body; from here on the server treats all routes alike.
  return { contract, handler } as unknown as Route;
}
