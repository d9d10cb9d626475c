// A route: contract and handler together. Server, OpenAPI document and tests read the same value.
import type { z } from 'zod';
import { type ErrorCode, Refusal, type RefusalOptions } from './problems/errors.ts';
import type { CachePolicy } from './responses/answer-cache.ts';
import type { SseSubscription } from './streams/sse.ts';
import type { Table, TableColumn } from './tables/table.ts';

/**
 * The response kind of a route. `signed`: a JSON object with `_alpha`, `_notice` and a receipt. `json`: a JSON document
 * of another standard, sent unchanged. `csv`: a table with its receipt in a header. `rows`: a table in the format that
 * the client asks for, in JSON as `{rows}`, like `signed`. `file`: a table in a file of any size, in ranges, with its
 * receipt in a header. `events`: Server-Sent Events. `bytes`: any other content type.
 */
export type Output =
  | { readonly kind: 'signed'; readonly schema: z.ZodObject; readonly status?: 200 | 201 | 202 }
  | { readonly kind: 'json'; readonly schema: z.ZodType; readonly contentType?: string; readonly description: string }
  | { readonly kind: 'csv'; readonly columns: readonly TableColumn[]; readonly description: string }
  | {
      readonly kind: 'rows';
      readonly columns: readonly TableColumn[];
      readonly schema: z.ZodObject;
      readonly description: string;
    }
  | { readonly kind: 'file'; readonly description: string }
  | { readonly kind: 'events'; readonly description: string; readonly events: readonly EventKind[] }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly description: string };

/** An event type of a stream. */
interface EventKind {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
}

/**
 * Response of a `bytes` route; `maxAgeSeconds` allows public caching, Infinity marks it immutable. With `updatedAt` it has validators, and
 * a client that has it receives a 304.
 */
export interface Bytes {
  readonly bytes: Uint8Array | string;
  readonly contentType?: string;
  readonly maxAgeSeconds?: number;
  readonly updatedAt?: Date;
}

/** Response of a `file` route: a complete file that does not change. */
export interface StoredFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Hex; also the validator. */
  readonly sha256: string;
  readonly contentType: string;
  readonly filename: string;
  /** JSON of the receipt. */
  readonly provenance: string;
}

type BodyOf<O extends Output> = O extends { kind: 'signed'; schema: infer S extends z.ZodObject }
  ? z.input<S>
  : O extends { kind: 'json'; schema: infer S extends z.ZodType }
    ? z.input<S>
    : O extends { kind: 'csv' | 'rows' }
      ? Table
      : O extends { kind: 'file' }
        ? StoredFile
        : O extends { kind: 'events' }
          ? SseSubscription
          : Bytes;

/** The validated values of a schema; none without one. */
export type Parsed<S extends z.ZodObject | undefined> = S extends z.ZodObject ? z.output<S> : Record<never, never>;

/** The schema of a request body for each media type; that of text, `text/csv` for one, reads a string. */
export type BodySchemas = Readonly<Record<string, z.ZodType>>;

/** The validated request body; none without schemas. */
type ParsedBody<B extends BodySchemas | undefined> = B extends BodySchemas
  ? { readonly body: z.output<B[keyof B]> }
  : Record<never, never>;

/** Information about the request in addition to its input. */
export interface RequestContext<Code extends ErrorCode = ErrorCode> {
  readonly requestId: string;
  /** Remote address of the client. */
  readonly address: string;
  /** The caller; undefined on open routes. */
  readonly key: ApiKey | undefined;
  readonly signal: AbortSignal;
  /** The body of a route with `upload`. */
  readonly upload?: Upload;
  /** Sets a header of the response, in lower case: `location`. */
  setHeader(name: string, value: string): void;
  /** Of a route with `isChargedByHandler`: counts these requests against the quota, or refuses with `quota_exceeded`. */
  charge(requests: number): Promise<void>;
  /** Declares that the response uses nothing read so far: earlier invalidations do not make it stale. */
  resetReads(): void;
  /** Ends the request with a declared problem. */
  refuse(code: Code, detail: string, options?: RefusalOptions): never;
}

export interface ApiKey {
  readonly id: string;
  readonly tier: string;
  /** Requests per UTC day; null is unlimited. */
  readonly dailyLimit: number | null;
}

/** A request body that is not held in memory. */
export interface Upload {
  /** One of the media types of the route. */
  readonly type: string;
  /** Throws a Refusal once the body is longer than allowed. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** A request with a valid key that was answered, for the usage of the key. */
export interface KeyUse {
  readonly keyId: string;
  /** Of the route, with its parameters in braces. */
  readonly path: string;
  /** `page`: the pages of this service in a browser. */
  readonly source: 'page' | 'api';
  /** The requests of the daily quota that it used. */
  readonly counted: number;
}

/** What the server needs to know of a route; contracts add the rest. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With parameters in OpenAPI syntax: `/v1/domains/{domain}`. A trailing `{rest*}` matches the remaining path. */
  readonly path: string;
  /** `key` by default. */
  readonly access?: 'key' | 'open';
  readonly output?: { readonly kind: string };
  /** Media types and schemas of the request body, for a route that needs one. */
  readonly bodies?: BodySchemas | undefined;
  /** Media types of a body that the handler reads as a stream, at most `bodyBytes` long. */
  readonly upload?: readonly string[];
  /** Maximum size of a body, if it is not that of the server. */
  readonly bodyBytes?: number;
}

interface RouteContract<
  App,
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  O extends Output,
  Code extends ErrorCode,
  B extends BodySchemas | undefined = BodySchemas | undefined,
> extends Endpoint {
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly bodies?: B;
  readonly output: O;
  /** What the handler refuses with; nothing by default. */
  readonly errors?: readonly Code[];
  /** The handler counts requests against the quota, by `charge`; otherwise the server counts one. */
  readonly isChargedByHandler?: true;
  readonly example?: unknown;
  /**
   * Signed and CSV routes only: responses with a policy are cached as bytes. A Refusal thrown here refuses the request.
   */
  readonly cache?: (app: App, input: Parsed<P> & Parsed<Q>, context: RequestContext<Code>) => CachePolicy | undefined;
}

/** A route of any shape, for the server and the OpenAPI document. */
export interface Route<App> {
  // biome-ignore format: one line
  readonly contract: RouteContract<App, z.ZodObject | undefined, z.ZodObject | undefined, Output, ErrorCode>;
  readonly handler: (app: App, input: Record<string, unknown>, context: RequestContext) => unknown;
}

/** Combines a contract and its handler. Undeclared refusals do not compile. */
export function route<
  App,
  O extends Output,
  Code extends ErrorCode = never,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends BodySchemas | undefined = undefined,
>(
  contract: RouteContract<App, P, Q, O, Code, B>,
  handler: (
    app: App,
    input: Parsed<P> & Parsed<Q> & ParsedBody<B>,
    context: RequestContext<NoInfer<Code>>,
  ) => BodyOf<O> | Promise<BodyOf<O>>,
): Route<App> {
  // The types above relate input, body and codes; from here on the server treats all routes alike.
  return { contract, handler } as unknown as Route<App>;
}

export function refuse(code: ErrorCode, detail: string, options?: RefusalOptions): never {
  throw new Refusal(code, detail, options);
}
