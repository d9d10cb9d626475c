// A route: contract and handler together. The server, the OpenAPI document and the tests all read the same value.
import type { z } from 'zod';
import { type ErrorCode, Refusal, type RefusalOptions } from './problems/errors.ts';
import type { Csv, CsvColumn } from './responses/csv.ts';
import type { SseSubscription } from './streams/sse.ts';

/**
 * What a route answers with. `signed`: a JSON object that gets `_alpha`, `_notice` and a receipt. `json`: a JSON document of
 * another standard, sent as it is. `csv`: a table with its receipt in a header. `events`: Server-Sent Events. `bytes`: anything else, with its content type.
 */
export type Output =
  | { readonly kind: 'signed'; readonly schema: z.ZodObject; readonly status?: 200 | 201 }
  | { readonly kind: 'json'; readonly schema: z.ZodType; readonly contentType?: string; readonly description: string }
  | { readonly kind: 'csv'; readonly columns: readonly CsvColumn[]; readonly description: string }
  | { readonly kind: 'events'; readonly description: string; readonly events: readonly EventKind[] }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly description: string };

/** An event that a stream may send. */
export interface EventKind {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
}

/** Bytes of a `bytes` route; `maxAgeSeconds` makes them cacheable by anyone, Infinity for ever. */
export interface Bytes {
  readonly bytes: Uint8Array | string;
  readonly contentType?: string;
  readonly maxAgeSeconds?: number;
}

type BodyOf<O extends Output> = O extends { kind: 'signed'; schema: infer S extends z.ZodObject }
  ? z.input<S>
  : O extends { kind: 'json'; schema: infer S extends z.ZodType }
    ? z.input<S>
    : O extends { kind: 'csv' }
      ? Csv
      : O extends { kind: 'events' }
        ? SseSubscription
        : Bytes;

type Parsed<S extends z.ZodObject | undefined> = S extends z.ZodObject ? z.output<S> : Record<never, never>;

/** What a handler knows of the request besides its input. */
export interface RequestContext<Code extends ErrorCode = ErrorCode> {
  readonly requestId: string;
  /** Address of the client's end of the connection. */
  readonly address: string;
  /** The caller; undefined on open routes. */
  readonly key: ApiKey | undefined;
  readonly signal: AbortSignal;
  /** Declares that nothing read so far goes into the answer: what was invalidated until now does not make it stale. */
  readsAnew(): void;
  /** Ends the request with a declared problem. */
  refuse(code: Code, detail: string, options?: RefusalOptions): never;
}

export interface ApiKey {
  readonly id: string;
  readonly tier: string;
  /** Requests a UTC day; null is unlimited. */
  readonly dailyLimit: number | null;
}

/** Where a signed answer is kept: same `key`, same body until one of `tags` is invalidated. */
export interface CachePlace {
  readonly key: string;
  readonly tags: readonly string[];
  /** An answer with an invalidated tag is still served until it is this old: a question is signed no oftener than that. */
  readonly maxStaleMs?: number;
  /** An older answer is computed anew even if nothing was invalidated. */
  readonly maxAgeMs?: number;
}

export interface RouteContract<
  App,
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  O extends Output,
  Code extends ErrorCode,
> {
  readonly method: 'GET' | 'POST';
  /** With parameters as OpenAPI writes them: `/v1/domains/{domain}`. A trailing `{rest*}` takes the remaining path. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly output: O;
  readonly errors: readonly Code[];
  readonly access: 'key' | 'open';
  readonly example?: unknown;
  /** Signed and CSV routes only: answers with a place are kept as ready bytes. Throwing a Refusal here is a refusal. */
  readonly cache?: (app: App, input: Parsed<P> & Parsed<Q>, context: RequestContext<Code>) => CachePlace | undefined;
}

/** A route of any shape, as the server and the OpenAPI document see it. */
export interface Route<App> {
  // biome-ignore format: one line says it
  readonly contract: RouteContract<App, z.ZodObject | undefined, z.ZodObject | undefined, Output, ErrorCode>;
  readonly handler: (app: App, input: Record<string, unknown>, context: RequestContext) => unknown;
}

/** Joins a contract and its handler. A refusal that the contract does not declare does not compile. */
export function route<
  App,
  O extends Output,
  Code extends ErrorCode,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
>(
  contract: RouteContract<App, P, Q, O, Code>,
  handler: (
    app: App,
    input: Parsed<P> & Parsed<Q>,
    context: RequestContext<NoInfer<Code>>,
  ) => BodyOf<O> | Promise<BodyOf<O>>,
): Route<App> {
  // The types above tie input, body and codes together; past this line the server handles every route alike.
  return { contract, handler } as unknown as Route<App>;
}

export function refuse(code: ErrorCode, detail: string, options?: RefusalOptions): never {
  throw new Refusal(code, detail, options);
}
