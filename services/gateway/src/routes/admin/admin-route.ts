// A route of the admin API, which needs an admin key. Unknown fields and parameters are refused.
import type { Parsed } from '@strata/http';
import type { z } from 'zod';
import { type Exchange, type GatewayApp, type Route, type RouteContract, route } from '../route.ts';
import { type AdminBody, adminBodies } from './schemas.ts';

const BODY_BYTES = 65_536;

type AdminContract<P extends z.ZodObject | undefined, Q extends z.ZodObject | undefined, Name> = Omit<
  RouteContract<P, undefined, Q>,
  'body' | 'isAdmin' | 'bodies' | 'access'
> & { readonly schema?: Name };

type BodyOf<Name> = Name extends AdminBody ? z.output<(typeof adminBodies)[Name]> : undefined;

/** `schema`: the name of the schema of the body. */
export function adminRoute<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  Name extends AdminBody | undefined = undefined,
>(
  { schema, ...contract }: AdminContract<P, Q, Name>,
  handler: (
    app: GatewayApp,
    input: Parsed<P> & Parsed<Q> & { readonly body: BodyOf<Name> },
    exchange: Exchange,
  ) => unknown,
): Route {
  const bodies = schema && { bodies: { 'application/json': adminBodies[schema] }, bodyBytes: BODY_BYTES };
  const complete = { ...contract, ...bodies, ...(schema ? { bodySchema: schema } : {}), isAdmin: true };
  // The body is that of the schema.
  return route<P, undefined, Q>(
    complete as RouteContract<P, undefined, Q>,
    handler as Parameters<typeof route<P, undefined, Q>>[1],
  );
}
