// Opens the upstreams of STRATA_UPSTREAMS, and the routes to them: the aliases, and the models that upstreams list.
import { UpstreamPages } from '@strata/engine';
import { StartError } from '@strata/http';
import type { Logger } from 'pino';
import type { Alias, AliasTarget, UpstreamServer, UpstreamsConfig } from '../../upstreams-config.ts';
import type { ServedModel } from '../models.ts';
import { type RouteDeps, RoutedBackend, type TargetEvent } from './routed-backend.ts';
import { orAborted, ownTarget, type Target, UpstreamTarget } from './target.ts';
import { TargetHealth } from './target-health.ts';

export interface RoutesDeps extends Pick<RouteDeps, 'nowMs' | 'random'> {
  /** The configured models of this gateway, which are not routes. */
  readonly own: ReadonlyMap<string, ServedModel>;
  /** A model that the network serves now. Throws CompletionError for any other. */
  readonly find: (id: string) => ServedModel;
  readonly onEvent: RouteDeps['onEvent'];
  readonly logger: Logger;
  /** Ends the wait for upstreams. */
  readonly signal?: AbortSignal | undefined;
}

export interface Routes extends AsyncDisposable {
  readonly list: readonly { readonly id: string; readonly backend: RoutedBackend }[];
  /** Each once. */
  readonly targets: readonly Target[];
}

/** Tokens of a long prompt may take long: where there is nowhere else to go, an upstream gets its own default. */
const FIRST_TOKEN_MS = 60_000;

/** How long a start waits for upstreams that accept a connection and do not answer. */
const START_MS = 5_000;

/**
 * Resolves when each upstream was asked once, or after five seconds; those that have not answered are asked by requests.
 * Rejects with StartError.
 */
export async function openRoutes(config: UpstreamsConfig, deps: RoutesDeps): Promise<Routes> {
  await using stack = new AsyncDisposableStack();
  const { own, logger, nowMs, random, onEvent } = deps;
  const listed = listedModels(config, own);
  const aliases = [...config.aliases.map((alias) => withListed(alias, listed)), ...listed.values()].filter(
    ({ id }, at, all) => all.findIndex((each) => each.id === id) === at,
  );
  const targets = new Map<string, Target>();
  const pages = new Map(config.servers.map(({ name }) => [name, new UpstreamPages()]));
  const newTarget = ({ server: name, model }: AliasTarget, alias: string): Target => {
    const health = new TargetHealth(config.health);
    const server = config.servers.find((each) => each.name === name);
    if (!server) return ownTarget(model, health, findOwn(model, alias, deps));
    const of = { upstream: server.name, pages: pages.get(server.name) ?? new UpstreamPages() };
    return stack.use(new UpstreamTarget({ ...of, ...optionsOf(server, model, aliases) }, health, logger));
  };
  const targetOf = (of: AliasTarget, alias: string): Target => {
    const key = JSON.stringify([of.server, of.model]);
    const target = targets.get(key) ?? newTarget(of, alias);
    targets.set(key, target);
    return target;
  };
  const list = aliases.map(({ id, groups }) => {
    const routed = groups.map((group) => group.map((each) => ({ target: targetOf(each, id), weight: each.weight })));
    const logged = (event: TargetEvent) => {
      logEvent(logger, id, event);
      onEvent(event);
    };
    return {
      id,
      backend: new RoutedBackend({ id, groups: routed, on: config.on }, { nowMs, random, onEvent: logged }),
    };
  });
  const all = [...targets.values()];
  const asked = Promise.all(
    all.map(async (target) => {
      if (!(target instanceof UpstreamTarget)) return;
      await target
        .ready()
        .catch((err: unknown) => logger.warn({ target: target.name, err }, 'an upstream cannot be used'));
    }),
  );
  const stop = AbortSignal.any([AbortSignal.timeout(START_MS), ...(deps.signal ? [deps.signal] : [])]);
  await orAborted(asked, stop).catch(() => logger.warn('starting without upstreams that have not answered yet'));
  const owned = stack.move();
  return { list, targets: all, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Routes for the models of the upstreams under their own names: all upstreams with a model share its requests. */
function listedModels({ servers }: UpstreamsConfig, own: RoutesDeps['own']): ReadonlyMap<string, Alias> {
  const offers = servers.flatMap(({ name: server, models }) => models.map((model) => ({ server, model, weight: 1 })));
  const groups = [...Map.groupBy(offers, ({ model }) => model)].filter(([id]) => !own.has(id));
  return new Map(groups.map(([id, group]) => [id, { id, groups: [group] }]));
}

/** The name of a model that upstreams list is replaced by these, which share its weight. */
function withListed({ id, groups }: Alias, listed: ReadonlyMap<string, Alias>): Alias {
  const expanded = (of: AliasTarget): readonly AliasTarget[] => {
    const targets = of.server === undefined ? listed.get(of.model)?.groups.flat() : undefined;
    return targets?.map((each) => ({ ...each, weight: of.weight / targets.length })) ?? [of];
  };
  return { id, groups: groups.map((group) => group.flatMap(expanded)) };
}

/** An upstream whose requests can go elsewhere is not asked again: the route is the only loop of retries. */
function optionsOf(
  { name, baseUrl, apiKey, slots, contextLength, firstTokenMs }: UpstreamServer,
  model: string,
  routes: readonly Alias[],
) {
  const isOneOfSeveral = routes.some(({ groups }) => {
    const all = groups.flat();
    return all.length > 1 && all.some((each) => each.server === name && each.model === model);
  });
  const waitMs = firstTokenMs ?? (isOneOfSeveral ? FIRST_TOKEN_MS : undefined);
  return {
    ...{ baseUrl, model, slots },
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(contextLength === undefined ? {} : { contextLength }),
    ...(waitMs === undefined ? {} : { firstTokenMs: waitMs }),
    ...(isOneOfSeveral ? { retries: 0 } : {}),
  };
}

/** A configured model, else one of the network, which comes and goes. */
function findOwn(model: string, alias: string, { own, find }: RoutesDeps): () => ServedModel {
  const served = own.get(model);
  if (served) return () => served;
  if (model === alias)
    throw new StartError(
      `STRATA_UPSTREAMS: aliases.${alias}: it names itself, and this gateway has no model '${model}'`,
    );
  return () => find(model);
}

function logEvent(logger: Logger, alias: string, event: TargetEvent): void {
  const { kind, target } = event;
  if (kind === 'failure') {
    const { message: detail } = event.error as Error;
    logger.warn({ model: alias, target, reason: event.reason, detail }, 'a target did not answer');
  } else if (kind === 'cooldown') logger.warn({ model: alias, target }, 'other targets are preferred to this one');
}
