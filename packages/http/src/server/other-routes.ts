// Requests outside the route tables: other methods of pages and files, unknown paths, and errors.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addSecurityHeaders } from '../access/security-headers.ts';
import { Refusal } from '../problems/errors.ts';
import { sendMissingPage } from '../site.ts';
import { type Meter, meterAtEnd } from './meter-responses.ts';
import { addOtherMethods, type OtherMethodsDeps, sendOptions } from './other-methods.ts';

/** Adds the other methods to each page and file. Call before these are added. */
export function limitMethods(deps: OtherMethodsDeps): void {
  deps.fastify.addHook('onRoute', ({ method, url, config }) => {
    // The tables meter their own routes, and add their other methods; so do the routes that are added here.
    if (method === 'GET' && !config?.meter) addOtherMethods(deps, { url, path: url, methods: [method] });
  });
}

export function handleErrors({ fastify, errors, crossOrigin }: Omit<OtherMethodsDeps, 'metrics'>): void {
  fastify.setNotFoundHandler((request, reply) => {
    if (crossOrigin.isAlwaysSet && request.method === 'OPTIONS')
      return sendOptions(crossOrigin, 'GET, POST, OPTIONS', { request, reply });
    return sendMissingPage(fastify, request, reply) ?? errors.send(new Refusal('not_found'), request, reply);
  });
  fastify.setErrorHandler((error, request, reply) => errors.send(error, request, reply));
}

/** Refuses URLs that cannot be routed. Fastify runs no hooks for them: their work for a response is done here. */
export function refuseUnroutable({
  errors,
  crossOrigin,
  unmatched,
}: Pick<OtherMethodsDeps, 'errors' | 'crossOrigin'> & { readonly unmatched: Meter }) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    request.receivedAt = performance.now();
    meterAtEnd(unmatched, request, reply);
    if (crossOrigin.isAlwaysSet) reply.headers({ ...crossOrigin.headers, 'x-request-id': request.id });
    addSecurityHeaders(reply);
    void errors.send(error, request, reply);
  };
}
